"""Jobs: work on many messages that can be tried, stopped, resumed and undone.

`plan_job(manager, JobSpec(...), folder)` finds the messages and writes the plan to disk;
`JobRunner(job, connect).run()` carries it out. Plan, steps and results are files in the folder of
the job, on disk before each step, so that another run continues after a kill.

`dry_run` makes the same checks and changes nothing. `undo` moves messages back.
"""

from .holding import is_running
from .job import Job, Outcome, PlannedMessage, job_ids, jobs_directory, load_job
from .planning import plan_job
from .running import JobReport, JobRunner, report_of
from .spec import JobKind, JobSpec, Limits
from .undoing import UndoReport, dry_run_undo, undo_job

__all__ = [
    "Job",
    "JobKind",
    "JobReport",
    "JobRunner",
    "JobSpec",
    "Limits",
    "Outcome",
    "PlannedMessage",
    "UndoReport",
    "dry_run_undo",
    "is_running",
    "job_ids",
    "jobs_directory",
    "load_job",
    "plan_job",
    "report_of",
    "undo_job",
]
