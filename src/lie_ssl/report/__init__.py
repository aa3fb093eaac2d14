"""Reports of evaluations: tables, figures and one HTML page. Imported by part, so that tables need no matplotlib."""
