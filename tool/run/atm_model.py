#!/usr/bin/env python3
"""Plain models of what the thesis' programs compute, to be compared with what they wrote.

atm_model.py linear FILE          solves a system one equation after the other, prints the file after the run
atm_model.py matrix FILE          multiplies, prints the file after the run
atm_model.py sequences FILE GOT   are the records of each worker, without those of the start program, the same?
atm_model.py delay FILE           the cycles between the one snd and the one rcv
atm_model.py system SEED N        a random system; every third has null pivots
atm_model.py product SEED M P N   two random matrices
"""
import csv
import random
import struct
import sys


def single(x):
    """The nearest number of 32 bits; one operation in 64 bits before it does no harm."""
    return struct.unpack("f", struct.pack("f", x))[0]


def rows_of(text):
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return [line for line in lines if line]


def triangulate(a):
    n = len(a)
    for k in range(n - 1):
        if a[k][k] == 0:
            other = next((i for i in range(k + 1, n) if a[i][k] != 0), None)
            if other is None:
                continue
            a[k][k:], a[other][k:] = a[other][k:], a[k][k:]
        for i in range(k + 1, n):
            left = a[i][k]
            for j in range(k, n + 1):
                a[i][j] = single(a[i][j] - single(single(left * a[k][j]) / a[k][k]))


def substitute(a):
    n = len(a)
    x = [0.0] * n
    for k in reversed(range(n)):
        s = 0.0
        for j in range(k + 1, n):
            s = single(s - single(a[k][j] * x[j]))
        s = single(s + a[k][n])
        if a[k][k] != 0:
            x[k] = single(s / a[k][k])
        elif s == 0:
            x[k] = 1.0
        else:
            return None
    return x


def linear(text):
    a = [[single(float(v)) for v in row] for row in rows_of(text)]
    triangulate(a)
    x = substitute(a)
    if x is None:
        return "solution impossible"
    text += "\n"
    for row in a:
        text += "".join("%f " % v for v in row[:-1]) + " %f\n" % row[-1]
    return text + "".join("\nx%d = %f" % (i + 1, v) for i, v in enumerate(x))


def matrix(text):
    rows = rows_of(text)
    star = rows.index(["*"])
    a, b = ([[int(v) for v in row] for row in part] for part in (rows[:star], rows[star + 1:]))
    text += "="
    for row in a:
        text += "\n" + "".join("%d " % sum(v * b[k][j] for k, v in enumerate(row)) for j in range(len(b[0])))
    return text


def sequences(name):
    found = {}
    with open(name) as file:
        for r in csv.DictReader(file):
            if r["note"] != "start":
                task = r["src_task"] if r["op"] == "snd" else r["dst_task"]
                step = (r["op"], r["tag"], r["dst_task"] if r["op"] == "snd" else "")
                found.setdefault(task, []).append(step)
    return found


def random_system(seed, n):
    r = random.Random(seed)
    a = [[r.randint(-9, 9) for _ in range(n + 1)] for _ in range(n)]
    if seed % 3 == 0:  # rows that are alike up to the diagonal, and zeros on it
        a[0][0] = 0
        for row in range(1, n):
            if r.random() < 0.4:
                a[row] = [2 * v for v in a[0][:-1]] + [a[row][-1]] if r.random() < 0.3 else a[row]
            if r.random() < 0.4:
                a[row][row] = a[row][0] = 0
    return "".join(" ".join(map(str, row)) + "\n" for row in a)


def random_product(seed, m, p, n):
    r = random.Random(seed)
    part = lambda h, w: "".join(" ".join(str(r.randint(-99, 99)) for _ in range(w)) + "\n" for _ in range(h))
    return part(m, p) + "*\n" + part(p, n)


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what in ("linear", "matrix"):
        with open(words[0]) as file:
            sys.stdout.write((linear if what == "linear" else matrix)(file.read()))
    elif what == "sequences":
        want, got = sequences(words[0]), sequences(words[1])
        for task in sorted(set(want) | set(got)):
            if want.get(task) != got.get(task):
                print("%s: got %s, want %s" % (task, got.get(task), want.get(task)))
    elif what == "delay":
        with open(words[0]) as file:
            cycle = {r["op"]: int(r["cycle"]) for r in csv.DictReader(file)}
        print(cycle["rcv"] - cycle["snd"])
    elif what == "system":
        sys.stdout.write(random_system(int(words[0]), int(words[1])))
    elif what == "product":
        sys.stdout.write(random_product(*map(int, words)))


main()
