"""The pages of the console: one function for each page, which collects the data of its template.

`site` has the table of pages and makes routes from it; `live` sends parts of open pages as they
change. Pages call the functions of `openmsmq.admin.api`, so that users and programs see the same.
"""
