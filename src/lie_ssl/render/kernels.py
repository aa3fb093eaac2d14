"""The compiled inner loops of the rasteriser.

Two passes. The first finds, for every sample, the nearest triangle (scanlines with a depth buffer). The second shades each
triangle once in every pixel it shows in and averages in linear light.

The bits are the same in any process and on any processor: no fast-math, no `pow`, no library calls beside `sqrt`.
Shape letters: V vertices, F faces, S samples of a frame's side, N pixels of a side.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Ordered thresholds: a face of opacity o covers the samples whose threshold lies below o.
_GOLDEN = 0.6180339887498949


@njit(cache=True, nogil=True)
def project(vertices, matrix, distance, focal, half, screen):  # type: ignore[no-untyped-def]
    """(V, 3) points to (V, 3) screen: x and y in samples (y down), and the inverse of the depth."""
    m00, m01, m02 = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    m10, m11, m12 = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    m20, m21, m22 = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    for i in range(len(vertices)):
        x, y, z = float(vertices[i, 0]), float(vertices[i, 1]), float(vertices[i, 2])
        depth = distance - (m20 * x + m21 * y + m22 * z)
        inverse = 1.0 / depth if depth > 1e-3 else 0.0
        screen[i, 0] = half + half * focal * (m00 * x + m01 * y + m02 * z) * inverse
        screen[i, 1] = half - half * focal * (m10 * x + m11 * y + m12 * z) * inverse
        screen[i, 2] = inverse


@njit(cache=True, nogil=True)
def _alpha(textures, start, height, width, u, v):  # type: ignore[no-untyped-def]
    column = int((u - math.floor(u)) * width)
    row = int((1.0 - (v - math.floor(v))) * height)
    column = min(max(column, 0), width - 1)
    row = min(max(row, 0), height - 1)
    return textures[start + row * width + column, 3]


@njit(cache=True, nogil=True)
def _weights(screen, a, b, c, x, y):  # type: ignore[no-untyped-def]
    """Perspective-correct weights of the second and third corner at (x, y); clamped into the triangle."""
    ax, ay = screen[a, 0], screen[a, 1]
    bx, by = screen[b, 0] - ax, screen[b, 1] - ay
    cx, cy = screen[c, 0] - ax, screen[c, 1] - ay
    area = bx * cy - by * cx
    if area == 0.0:
        return 0.0, 0.0
    wb = ((x - ax) * cy - (y - ay) * cx) / area
    wc = (bx * (y - ay) - by * (x - ax)) / area
    wb = min(max(wb, 0.0), 1.0)
    wc = min(max(wc, 0.0), 1.0 - wb)
    pa, pb, pc = (1.0 - wb - wc) * screen[a, 2], wb * screen[b, 2], wc * screen[c, 2]
    total = pa + pb + pc
    return pb / total, pc / total


@njit(cache=True, nogil=True)
def find_visible(  # type: ignore[no-untyped-def]
    screen, faces, opacity, cutout, uv, texture, atlas, textures, depth, visible, extent
):
    """Fills `visible` (S, S) with face + 1 (0 for none). `extent` returns the touched rows and columns."""
    samples = depth.shape[0]
    top, bottom, left, right = samples, -1, samples, -1
    for f in range(len(faces)):
        see_through = opacity[f] < 1.0
        if see_through and opacity[f] <= 0.0:
            continue
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if screen[a, 2] <= 0.0 or screen[b, 2] <= 0.0 or screen[c, 2] <= 0.0:
            continue
        bx, by, bw = screen[b, 0] - screen[a, 0], screen[b, 1] - screen[a, 1], screen[b, 2] - screen[a, 2]
        cx, cy, cw = screen[c, 0] - screen[a, 0], screen[c, 1] - screen[a, 1], screen[c, 2] - screen[a, 2]
        area = bx * cy - by * cx
        if area == 0.0:
            continue
        slope_x, slope_y = (bw * cy - cw * by) / area, (cw * bx - bw * cx) / area
        origin = screen[a, 2] - slope_x * screen[a, 0] - slope_y * screen[a, 1]
        # Corners from top to bottom, ties by x, so that an edge shared by two faces is walked in the same direction and
        # gives the same numbers: no gaps, no overlap.
        if screen[b, 1] < screen[a, 1] or (screen[b, 1] == screen[a, 1] and screen[b, 0] < screen[a, 0]):
            a, b = b, a
        if screen[c, 1] < screen[a, 1] or (screen[c, 1] == screen[a, 1] and screen[c, 0] < screen[a, 0]):
            a, c = c, a
        if screen[c, 1] < screen[b, 1] or (screen[c, 1] == screen[b, 1] and screen[c, 0] < screen[b, 0]):
            b, c = c, b
        ax, ay, bx, by, cx, cy = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
        long_slope = (cx - ax) / (cy - ay) if cy > ay else 0.0
        upper_slope = (bx - ax) / (by - ay) if by > ay else 0.0
        lower_slope = (cx - bx) / (cy - by) if cy > by else 0.0
        first = max(0, int(math.ceil(ay - 0.5)))
        last = min(samples, int(math.ceil(cy - 0.5)))
        masked = see_through or cutout[f]
        for row in range(first, last):
            y = row + 0.5
            x0 = ax + long_slope * (y - ay)
            x1 = ax + upper_slope * (y - ay) if y < by else bx + lower_slope * (y - by)
            if x0 > x1:
                x0, x1 = x1, x0
            begin = max(0, int(math.ceil(x0 - 0.5)))
            end = min(samples, int(math.ceil(x1 - 0.5)))
            if begin >= end:
                continue
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, begin), max(right, end - 1)
            base = origin + slope_y * y + 0.5 * slope_x
            if not masked:
                for column in range(begin, end):
                    near = np.float32(base + slope_x * column)
                    if near > depth[row, column]:
                        depth[row, column] = near
                        visible[row, column] = f + 1
            else:
                for column in range(begin, end):
                    near = np.float32(base + slope_x * column)
                    if near <= depth[row, column]:
                        continue
                    if see_through:
                        dither = (column % 8) * _GOLDEN + (row % 8) * (_GOLDEN * _GOLDEN * 2.0)
                        if opacity[f] <= dither - math.floor(dither):
                            continue
                    if cutout[f]:
                        wb, wc = _weights(screen, faces[f, 0], faces[f, 1], faces[f, 2], column + 0.5, y)
                        wa = 1.0 - wb - wc
                        u = wa * uv[f, 0, 0] + wb * uv[f, 1, 0] + wc * uv[f, 2, 0]
                        v = wa * uv[f, 0, 1] + wb * uv[f, 1, 1] + wc * uv[f, 2, 1]
                        t = texture[f]
                        if _alpha(textures, atlas[t, 0], atlas[t, 1], atlas[t, 2], u, v) < 0.5:
                            continue
                    depth[row, column] = near
                    visible[row, column] = f + 1
    extent[0], extent[1], extent[2], extent[3] = top, bottom, left, right


@njit(cache=True, nogil=True)
def _texel(textures, start, height, width, u, v, colour):  # type: ignore[no-untyped-def]
    """Bilinear look-up in a repeating picture; `colour` (3,) is multiplied by it."""
    x = (u - math.floor(u)) * width - 0.5
    y = (1.0 - (v - math.floor(v))) * height - 0.5
    column, row = int(math.floor(x)), int(math.floor(y))
    fx, fy = x - column, y - row
    c0, c1 = (column + width) % width, (column + 1) % width
    r0, r1 = (row + height) % height, (row + 1) % height
    for k in range(3):
        upper = textures[start + r0 * width + c0, k] * (1.0 - fx) + textures[start + r0 * width + c1, k] * fx
        lower = textures[start + r1 * width + c0, k] * (1.0 - fx) + textures[start + r1 * width + c1, k] * fx
        colour[k] *= upper * (1.0 - fy) + lower * fy


@njit(cache=True, nogil=True)
def shade(  # type: ignore[no-untyped-def]
    screen, faces, face_normals, normals, colours, shine, uv, texture, atlas, textures, light, half_way, up, hue, recolour,
    background, visible, extent, encode, out,
):
    """Averages every touched pixel of `visible` into `out` (N, N, C). Light directions are in object axes."""
    size, channels = out.shape[0], out.shape[2]
    factor = visible.shape[0] // size
    scale = 1.0 / (factor * factor)
    top_code = len(encode) - 1
    colour = np.empty(3)
    total = np.empty(3)
    seen = np.empty(factor * factor, np.int32)
    for row in range(extent[0] // factor, extent[1] // factor + 1):
        for column in range(extent[2] // factor, extent[3] // factor + 1):
            n_seen, empty = 0, 0
            for i in range(factor):
                for j in range(factor):
                    face = visible[row * factor + i, column * factor + j]
                    if face == 0:
                        empty += 1
                    elif n_seen == 0 or face != seen[n_seen - 1]:
                        new = True
                        for k in range(n_seen - 1):
                            if seen[k] == face:
                                new = False
                                break
                        if new:
                            seen[n_seen] = face
                            n_seen += 1
            if n_seen == 0:
                continue
            total[0], total[1], total[2] = background[0] * empty, background[1] * empty, background[2] * empty
            for k in range(n_seen):
                f = seen[k] - 1
                count, x, y = 0, 0, 0
                for i in range(factor):
                    for j in range(factor):
                        if visible[row * factor + i, column * factor + j] == seen[k]:
                            count += 1
                            x += j
                            y += i
                px = column * factor + x / count + 0.5
                py = row * factor + y / count + 0.5
                a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
                wb, wc = _weights(screen, a, b, c, px, py)
                wa = 1.0 - wb - wc
                nx = wa * normals[f, 0, 0] + wb * normals[f, 1, 0] + wc * normals[f, 2, 0]
                ny = wa * normals[f, 0, 1] + wb * normals[f, 1, 1] + wc * normals[f, 2, 1]
                nz = wa * normals[f, 0, 2] + wb * normals[f, 1, 2] + wc * normals[f, 2, 2]
                length = math.sqrt(nx * nx + ny * ny + nz * nz)
                # Two-sided: the normal is turned to the side of the surface that the camera sees.
                turned = (screen[b, 0] - screen[a, 0]) * (screen[c, 1] - screen[a, 1]) - (screen[b, 1] - screen[a, 1]) * (
                    screen[c, 0] - screen[a, 0]
                )
                facing = face_normals[f, 0] * nx + face_normals[f, 1] * ny + face_normals[f, 2] * nz
                length = max(length, 1e-12) if (facing >= 0.0) == (turned < 0.0) else -max(length, 1e-12)
                nx, ny, nz = nx / length, ny / length, nz / length
                for channel in range(3):
                    colour[channel] = (
                        wa * colours[f, 0, channel] + wb * colours[f, 1, channel] + wc * colours[f, 2, channel]
                    )
                t = texture[f]
                if t >= 0:
                    u = wa * uv[f, 0, 0] + wb * uv[f, 1, 0] + wc * uv[f, 2, 0]
                    v = wa * uv[f, 0, 1] + wb * uv[f, 1, 1] + wc * uv[f, 2, 1]
                    _texel(textures, atlas[t, 0], atlas[t, 1], atlas[t, 2], u, v, colour)
                if recolour:
                    r, g, bl = colour[0], colour[1], colour[2]
                    for channel in range(3):
                        turned_colour = hue[channel, 0] * r + hue[channel, 1] * g + hue[channel, 2] * bl
                        colour[channel] = max(turned_colour, 0.0)
                diffuse = nx * light[0] + ny * light[1] + nz * light[2]
                sky = nx * up[0] + ny * up[1] + nz * up[2]
                lit = 0.34 + 0.12 * sky + 0.80 * max(diffuse, 0.0)
                gloss = max(nx * half_way[0] + ny * half_way[1] + nz * half_way[2], 0.0)
                gloss *= gloss  # the 32nd power by squaring: `pow` differs between machines
                gloss *= gloss
                gloss *= gloss
                gloss *= gloss
                gloss *= gloss
                highlight = 0.6 * shine[f] * gloss
                for channel in range(3):
                    total[channel] += count * min(colour[channel] * lit + highlight, 1.0)
            if channels == 3:
                for channel in range(3):
                    out[row, column, channel] = encode[int(total[channel] * scale * top_code + 0.5)]
            else:
                luminance = 0.2126 * total[0] + 0.7152 * total[1] + 0.0722 * total[2]
                out[row, column, 0] = encode[int(luminance * scale * top_code + 0.5)]


@njit(cache=True, nogil=True)
def clear(depth, visible, extent):  # type: ignore[no-untyped-def]
    """Empties the part of the buffers that the last frame touched."""
    for row in range(extent[0], extent[1] + 1):
        for column in range(extent[2], extent[3] + 1):
            depth[row, column] = 0.0
            visible[row, column] = 0
