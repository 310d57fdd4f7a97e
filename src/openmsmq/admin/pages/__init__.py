"""The pages of the console: one function for each page that gathers what its template shows.

`site` has the table of pages and makes routes from it; `live` sends parts of open pages as they
change. Pages call the functions of `openmsmq.admin.api`, so that people and programs get the same.
"""
