"""What the checks of a report have found wrong."""
problems = []


def expect(holds, what):
    if not holds:
        problems.append(what)
