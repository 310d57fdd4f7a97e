"""What people see in a terminal: progress, quantities, styles. Below cli and spark."""
