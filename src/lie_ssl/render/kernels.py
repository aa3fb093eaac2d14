"""The compiled inner loops of the rasteriser.

Two passes. The first finds, for every sample, the nearest triangle (scanlines with a depth buffer). The second shades
each triangle once in every pixel it shows in and averages in linear light.

The bits are the same in any process and on any processor: no fast-math, no `pow`, no library calls beside `sqrt`.
Shape letters: V vertices, F faces, S samples of a frame's side, N pixels of a side.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Kinds of faces: flat and of one colour (shaded once a frame), with varying normals or colours, with a texture.
ONE_COLOUR, VARYING, TEXTURED = 0, 1, 2


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
def _weights(planes, f, x, y):  # type: ignore[no-untyped-def]
    """Perspective-correct weights of a face's second and third corner at (x, y), clamped into the triangle."""
    depth = 1.0 / (planes[f, 0] + planes[f, 1] * x + planes[f, 2] * y)
    wb = min(max((planes[f, 3] + planes[f, 4] * x + planes[f, 5] * y) * depth, 0.0), 1.0)
    wc = min(max((planes[f, 6] + planes[f, 7] * x + planes[f, 8] * y) * depth, 0.0), 1.0 - wb)
    return wb, wc


@njit(cache=True, nogil=True)
def _set_plane(screen, a, b, c, planes, f):  # type: ignore[no-untyped-def]
    """Inverse depth, and the weight of the second and third corner times it, as linear functions of the screen."""
    ax, ay, aw = screen[a, 0], screen[a, 1], screen[a, 2]
    bx, by, bw = screen[b, 0] - ax, screen[b, 1] - ay, screen[b, 2]
    cx, cy, cw = screen[c, 0] - ax, screen[c, 1] - ay, screen[c, 2]
    area = bx * cy - by * cx
    planes[f, 9] = area
    if area == 0.0:
        return
    scale = 1.0 / area
    planes[f, 1] = ((bw - aw) * cy - (cw - aw) * by) * scale
    planes[f, 2] = ((cw - aw) * bx - (bw - aw) * cx) * scale
    planes[f, 0] = aw - planes[f, 1] * ax - planes[f, 2] * ay
    planes[f, 4], planes[f, 5] = cy * bw * scale, -cx * bw * scale
    planes[f, 3] = -planes[f, 4] * ax - planes[f, 5] * ay
    planes[f, 7], planes[f, 8] = -by * cw * scale, bx * cw * scale
    planes[f, 6] = -planes[f, 7] * ax - planes[f, 8] * ay


@njit(cache=True, nogil=True)
def find_visible(  # type: ignore[no-untyped-def]
    screen, faces, opacity, cutout, uv, texture, atlas, textures, planes, depth, visible, extent, factor
):
    """Fills `visible` (S, S) with face + 1 (0 for none). `planes` (F, 10) returns the linear functions of every face,
    `extent` the touched rows and columns."""
    samples = depth.shape[0]
    top, bottom, left, right = samples, -1, samples, -1
    for f in range(len(faces)):
        see_through = opacity[f] < 1.0
        if see_through and opacity[f] <= 0.0:
            continue
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if screen[a, 2] <= 0.0 or screen[b, 2] <= 0.0 or screen[c, 2] <= 0.0:
            continue
        _set_plane(screen, a, b, c, planes, f)
        if planes[f, 9] == 0.0:
            continue
        origin, slope_x, slope_y = planes[f, 0], planes[f, 1], planes[f, 2]
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
        first = max(0, math.ceil(ay - 0.5))
        last = min(samples, math.ceil(cy - 0.5))
        masked = see_through or cutout[f]
        for row in range(first, last):
            y = row + 0.5
            x0 = ax + long_slope * (y - ay)
            x1 = ax + upper_slope * (y - ay) if y < by else bx + lower_slope * (y - by)
            if x0 > x1:
                x0, x1 = x1, x0
            begin = max(0, math.ceil(x0 - 0.5))
            end = min(samples, math.ceil(x1 - 0.5))
            if begin >= end:
                continue
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, begin), max(right, end - 1)
            base = origin + slope_y * y + 0.5 * slope_x
            if not masked:
                # Slices indexed from zero let the compiler use wide instructions.
                depths, faces_seen = depth[row, begin:end], visible[row, begin:end]
                base += slope_x * begin
                for k in range(len(depths)):
                    near = np.float32(base + slope_x * k)
                    if near > depths[k]:
                        depths[k] = near
                        faces_seen[k] = f + 1
            else:
                for column in range(begin, end):
                    near = np.float32(base + slope_x * column)
                    if near <= depth[row, column]:
                        continue
                    # A see-through face covers its share of each pixel's samples: the same ones in every pixel, so that
                    # no pattern shows.
                    rank = (row % factor) * factor + column % factor
                    if see_through and opacity[f] * factor * factor <= rank + 0.5:
                        continue
                    if cutout[f]:
                        wb, wc = _weights(planes, f, column + 0.5, y)
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
def _texel(textures, start, height, width, u, v):  # type: ignore[no-untyped-def]
    """Bilinear look-up in a repeating picture: red, green, blue."""
    x = (u - math.floor(u)) * width - 0.5
    y = (1.0 - (v - math.floor(v))) * height - 0.5
    column, row = math.floor(x), math.floor(y)
    fx, fy = x - column, y - row
    c0, c1 = (column + width) % width, (column + 1) % width
    r0, r1 = (row + height) % height, (row + 1) % height
    a, b, c, d = start + r0 * width + c0, start + r0 * width + c1, start + r1 * width + c0, start + r1 * width + c1
    wa, wb, wc, wd = (1.0 - fx) * (1.0 - fy), fx * (1.0 - fy), (1.0 - fx) * fy, fx * fy
    return (
        wa * textures[a, 0] + wb * textures[b, 0] + wc * textures[c, 0] + wd * textures[d, 0],
        wa * textures[a, 1] + wb * textures[b, 1] + wc * textures[c, 1] + wd * textures[d, 1],
        wa * textures[a, 2] + wb * textures[b, 2] + wc * textures[c, 2] + wd * textures[d, 2],
    )


@njit(cache=True, nogil=True)
def _surface(f, x, y, planes, corners, kind, texture, atlas, textures, lamps, recolour):  # type: ignore[no-untyped-def]
    """Linear red, green and blue of face `f` at the sample (x, y): two-sided Blinn-Phong.

    A row of `corners` (F, 28) holds three normals, three colours, three uv, the shine and the normal of the face.
    """
    wb, wc = 0.0, 0.0
    if kind != ONE_COLOUR:
        wb, wc = _weights(planes, f, x, y)
    wa = 1.0 - wb - wc
    nx = wa * corners[f, 0] + wb * corners[f, 3] + wc * corners[f, 6]
    ny = wa * corners[f, 1] + wb * corners[f, 4] + wc * corners[f, 7]
    nz = wa * corners[f, 2] + wb * corners[f, 5] + wc * corners[f, 8]
    # The normal is turned to the side of the surface that the camera sees; a face with a negative area is turned away.
    facing = corners[f, 25] * nx + corners[f, 26] * ny + corners[f, 27] * nz
    length = 1.0 / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
    if (facing >= 0.0) != (planes[f, 9] < 0.0):
        length = -length
    nx, ny, nz = nx * length, ny * length, nz * length
    red = wa * corners[f, 9] + wb * corners[f, 12] + wc * corners[f, 15]
    green = wa * corners[f, 10] + wb * corners[f, 13] + wc * corners[f, 16]
    blue = wa * corners[f, 11] + wb * corners[f, 14] + wc * corners[f, 17]
    if kind == TEXTURED:
        u = wa * corners[f, 18] + wb * corners[f, 20] + wc * corners[f, 22]
        v = wa * corners[f, 19] + wb * corners[f, 21] + wc * corners[f, 23]
        t = texture[f]
        texel = _texel(textures, atlas[t, 0], atlas[t, 1], atlas[t, 2], u, v)
        red, green, blue = red * texel[0], green * texel[1], blue * texel[2]
    if recolour:
        red, green, blue = (
            max(lamps[3, 0] * red + lamps[3, 1] * green + lamps[3, 2] * blue, 0.0),
            max(lamps[4, 0] * red + lamps[4, 1] * green + lamps[4, 2] * blue, 0.0),
            max(lamps[5, 0] * red + lamps[5, 1] * green + lamps[5, 2] * blue, 0.0),
        )
    diffuse = nx * lamps[0, 0] + ny * lamps[0, 1] + nz * lamps[0, 2]
    gloss = max(nx * lamps[1, 0] + ny * lamps[1, 1] + nz * lamps[1, 2], 0.0)
    sky = nx * lamps[2, 0] + ny * lamps[2, 1] + nz * lamps[2, 2]
    lit = 0.34 + 0.12 * sky + 0.80 * max(diffuse, 0.0)
    gloss *= gloss  # the 32nd power by squaring: `pow` differs between machines
    gloss *= gloss
    gloss *= gloss
    gloss *= gloss
    gloss *= gloss
    highlight = 0.6 * corners[f, 24] * gloss
    return min(red * lit + highlight, 1.0), min(green * lit + highlight, 1.0), min(blue * lit + highlight, 1.0)


@njit(cache=True, nogil=True)
def shade(  # type: ignore[no-untyped-def]
    planes, corners, kinds, texture, atlas, textures, lamps, recolour, background, palette, visible, extent, encode, out
):
    """Averages every touched pixel of `visible` into `out` (N, N, C).

    `palette` (F, 4) keeps the colours of faces that have only one, and whether they are known yet.

    `lamps` (6, 3), in object axes: direction of the light, of the highlight, upwards, and the hue's matrix.
    """
    channels = out.shape[2]
    factor = visible.shape[0] // out.shape[0]
    scale = (len(encode) - 1) / (factor * factor)
    palette[:, 3] = 0.0
    for row in range(extent[0] // factor, extent[1] // factor + 1):
        for column in range(extent[2] // factor, extent[3] // factor + 1):
            x0, y0 = column * factor, row * factor
            face = visible[y0, x0]
            same = True
            for i in range(factor):
                for j in range(factor):
                    if visible[y0 + i, x0 + j] != face:
                        same = False
            if same and face == 0:
                continue
            total_red, total_green, total_blue = 0.0, 0.0, 0.0
            done = np.uint64(0)  # one bit a sample
            for i in range(factor):
                for j in range(factor):
                    if done >> np.uint64(i * factor + j) & np.uint64(1):
                        continue
                    face = visible[y0 + i, x0 + j]
                    count, x, y = 0, 0, 0
                    for p in range(i, factor):
                        for q in range(factor):
                            if visible[y0 + p, x0 + q] == face:
                                done |= np.uint64(1) << np.uint64(p * factor + q)
                                count += 1
                                x += q
                                y += p
                    f = face - 1
                    if face == 0:
                        red, green, blue = background[0], background[1], background[2]
                    elif palette[f, 3] == 1.0:
                        red, green, blue = palette[f, 0], palette[f, 1], palette[f, 2]
                    else:
                        red, green, blue = _surface(
                            f, x0 + x / count + 0.5, y0 + y / count + 0.5, planes, corners, kinds[f], texture, atlas,
                            textures, lamps, recolour,
                        )  # fmt: skip
                        if kinds[f] == ONE_COLOUR:
                            palette[f, 0], palette[f, 1], palette[f, 2], palette[f, 3] = red, green, blue, 1.0
                    total_red += red * count
                    total_green += green * count
                    total_blue += blue * count
            if channels == 3:
                out[row, column, 0] = encode[int(total_red * scale + 0.5)]
                out[row, column, 1] = encode[int(total_green * scale + 0.5)]
                out[row, column, 2] = encode[int(total_blue * scale + 0.5)]
            else:
                luminance = 0.2126 * total_red + 0.7152 * total_green + 0.0722 * total_blue
                out[row, column, 0] = encode[int(luminance * scale + 0.5)]


@njit(cache=True, nogil=True)
def clear(depth, visible, extent):  # type: ignore[no-untyped-def]
    """Empties the part of the buffers that the last frame touched."""
    for row in range(extent[0], extent[1] + 1):
        for column in range(extent[2], extent[3] + 1):
            depth[row, column] = 0.0
            visible[row, column] = 0
