"""Running a command inside a slot: the board's side (`job`), the process's (`child`, `signals`, `tree`)."""
