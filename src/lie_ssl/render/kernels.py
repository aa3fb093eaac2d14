"""The compiled inner loops of the rasteriser.

There are two passes. The first finds the nearest triangle of every sample (scanlines with a depth buffer). The second
shades each visible triangle once per pixel and averages in linear light.

The results are bitwise identical on all processors: no fast-math, no `pow`, no library calls except `sqrt`.
Shape letters: V vertices, F faces, S samples per side of the frame, N pixels per side.
"""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.compiled import compiled

# Kinds of faces, each with more to interpolate than the previous one: flat with one colour, curved with one colour,
# with a colour per corner, with a texture.
ONE_COLOUR, CURVED, VARYING, TEXTURED = 0, 1, 2, 3

CAP = 1024  # fragments that are shaded together; a constant, so that the compiler knows the stride of the rows
# Lighting: ambient light, sky, key light, and its highlight.
AMBIENT, SKY, KEY, HIGHLIGHT = np.float32(0.34), np.float32(0.12), np.float32(0.80), 0.6
STEPS = np.float32(96)  # number of brightness levels
RED_SHARE, GREEN_SHARE, BLUE_SHARE = np.float32(0.2126), np.float32(0.7152), np.float32(0.0722)
# Plain literals would turn float32 arithmetic into float64.
ZERO, TINY, HALF, ONE = np.float32(0), np.float32(1e-24), np.float32(0.5), np.float32(1)


@compiled(nogil=True, error_model="numpy")
def project(vertices, matrix, distance, focal, half, screen):  # type: ignore[no-untyped-def]
    """Projects (V, 3) points to (V, 3) screen coordinates: x and y in samples (y down), and the inverse depth."""
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


@compiled(nogil=True, error_model="numpy")
def _alpha(textures, start, height, width, u, v):  # type: ignore[no-untyped-def]
    column = int((u - math.floor(u)) * width)
    row = int((1.0 - (v - math.floor(v))) * height)
    column = min(max(column, 0), width - 1)
    row = min(max(row, 0), height - 1)
    return textures[start + row * width + column, 3]


@compiled(nogil=True, inline="always", error_model="numpy")
def _weights(planes, f, x, y):  # type: ignore[no-untyped-def]
    """Perspective-correct weights of the second and third corner of a face at (x, y), clamped to the triangle."""
    depth = 1.0 / (planes[f, 0] + planes[f, 1] * x + planes[f, 2] * y)
    wb = min(max((planes[f, 3] + planes[f, 4] * x + planes[f, 5] * y) * depth, 0.0), 1.0)
    wc = min(max((planes[f, 6] + planes[f, 7] * x + planes[f, 8] * y) * depth, 0.0), 1.0 - wb)
    return wb, wc


@compiled(nogil=True, inline="always", error_model="numpy")
def _set_plane(screen, a, b, c, area, planes, f):  # type: ignore[no-untyped-def]
    """Stores the inverse depth, and the weights of the second and third corner times it, as linear screen functions."""
    ax, ay, aw = screen[a, 0], screen[a, 1], screen[a, 2]
    bx, by, bw = screen[b, 0] - ax, screen[b, 1] - ay, screen[b, 2]
    cx, cy, cw = screen[c, 0] - ax, screen[c, 1] - ay, screen[c, 2]
    scale = 1.0 / area
    planes[f, 1] = ((bw - aw) * cy - (cw - aw) * by) * scale
    planes[f, 2] = ((cw - aw) * bx - (bw - aw) * cx) * scale
    planes[f, 0] = aw - planes[f, 1] * ax - planes[f, 2] * ay
    planes[f, 4], planes[f, 5] = cy * bw * scale, -cx * bw * scale
    planes[f, 3] = -planes[f, 4] * ax - planes[f, 5] * ay
    planes[f, 7], planes[f, 8] = -by * cw * scale, bx * cw * scale
    planes[f, 6] = -planes[f, 7] * ax - planes[f, 8] * ay
    planes[f, 9] = area


@compiled(nogil=True, error_model="numpy")
def find_visible(  # type: ignore[no-untyped-def]
    screen, faces, hidden_back, surfaces, opacity, cutout, uv, texture, atlas, textures, planes, sides, depth, visible,
    extent, factor,
):  # fmt: skip
    """Fills `visible` (S, S) with face + 1, or 0 for none.

    Also fills `planes` (F, 10) with the linear functions of every face, `sides` (F + 1,) with its smooth surface
    (negative if its back is visible), and `extent` with the range of rows and columns drawn to.
    """
    samples = depth.shape[0]
    depths, seen = depth.reshape(-1), visible.reshape(-1)
    top, bottom, left, right = samples, -1, samples, -1
    for f in range(len(faces)):
        transparent = opacity[f] < 1.0
        a, b, c = np.uint32(faces[f, 0]), np.uint32(faces[f, 1]), np.uint32(faces[f, 2])
        if screen[a, 2] <= 0.0 or screen[b, 2] <= 0.0 or screen[c, 2] <= 0.0:
            continue
        # Twice the area. The y axis of the screen points down, so the area of a face seen from its front is negative.
        area = (screen[b, 0] - screen[a, 0]) * (screen[c, 1] - screen[a, 1])
        area -= (screen[b, 1] - screen[a, 1]) * (screen[c, 0] - screen[a, 0])
        if area == 0.0 or (area > 0.0 and hidden_back[f]):
            continue
        _set_plane(screen, a, b, c, area, planes, f)
        sides[f + 1] = surfaces[f] if area < 0.0 else -surfaces[f]
        # Corners are sorted from top to bottom, ties by x, so that an edge shared by two faces is traversed in the same
        # direction and gives the same numbers: no gaps, no overlap.
        if screen[b, 1] < screen[a, 1] or (screen[b, 1] == screen[a, 1] and screen[b, 0] < screen[a, 0]):
            a, b = b, a
        if screen[c, 1] < screen[a, 1] or (screen[c, 1] == screen[a, 1] and screen[c, 0] < screen[a, 0]):
            a, c = c, a
        if screen[c, 1] < screen[b, 1] or (screen[c, 1] == screen[b, 1] and screen[c, 0] < screen[b, 0]):
            b, c = c, b
        ax, ay, bx, by, cx, cy = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
        first = max(0, math.ceil(ay - 0.5))
        last = min(samples, math.ceil(cy - 0.5))
        if first >= last:
            continue
        long_slope = (cx - ax) / (cy - ay) if cy > ay else 0.0
        upper_slope = (bx - ax) / (by - ay) if by > ay else 0.0
        lower_slope = (cx - bx) / (cy - by) if cy > by else 0.0
        origin, slope_x, slope_y = planes[f, 0], planes[f, 1], planes[f, 2]
        masked = transparent or cutout[f]
        touched = False
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
            touched = True
            left, right = min(left, begin), max(right, end - 1)
            base = origin + slope_y * y + 0.5 * slope_x
            offset = np.uint32(row * samples)
            if not masked:
                for column in range(begin, end):
                    near = np.float32(base + slope_x * column)
                    at = offset + np.uint32(column)
                    if near > depths[at]:
                        depths[at] = near
                        seen[at] = f + 1
            else:
                for column in range(begin, end):
                    near = np.float32(base + slope_x * column)
                    at = offset + np.uint32(column)
                    if near <= depths[at]:
                        continue
                    # A transparent face covers a share of the samples: the same ones in every pixel, so that no pattern
                    # is visible.
                    rank = (row % factor) * factor + column % factor
                    if transparent and opacity[f] * factor * factor <= rank + 0.5:
                        continue
                    if cutout[f]:
                        wb, wc = _weights(planes, f, column + 0.5, y)
                        wa = 1.0 - wb - wc
                        u = wa * uv[f, 0, 0] + wb * uv[f, 1, 0] + wc * uv[f, 2, 0]
                        v = wa * uv[f, 0, 1] + wb * uv[f, 1, 1] + wc * uv[f, 2, 1]
                        t = texture[f]
                        if _alpha(textures, atlas[t, 0], atlas[t, 1], atlas[t, 2], u, v) < 0.5:
                            continue
                    depths[at] = near
                    seen[at] = f + 1
        if touched:
            top, bottom = min(top, first), max(bottom, last - 1)
    extent[0], extent[1], extent[2], extent[3] = top, bottom, left, right


@compiled(nogil=True, error_model="numpy")
def _texel(textures, start, height, width, u, v):  # type: ignore[no-untyped-def]
    """Bilinear lookup of red, green and blue in a repeating texture."""
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


@compiled(nogil=True, inline="always", error_model="numpy")
def _interpolate(n, faces, xs, ys, planes, corners, kinds, texture, atlas, textures, work):  # type: ignore[no-untyped-def]
    """Writes normal, colour and shine of `n` fragments to `work`."""
    for k in range(n):
        f = faces[k]
        wa, wb, wc = ONE, ZERO, ZERO
        if kinds[f] != ONE_COLOUR:
            second, third = _weights(planes, f, xs[k], ys[k])
            wb, wc = np.float32(second), np.float32(third)
            wa = ONE - wb - wc
        nx = wa * corners[f, 0] + wb * corners[f, 3] + wc * corners[f, 6]
        ny = wa * corners[f, 1] + wb * corners[f, 4] + wc * corners[f, 7]
        nz = wa * corners[f, 2] + wb * corners[f, 5] + wc * corners[f, 8]
        if planes[f, 9] > 0.0:  # seen from the back
            nx, ny, nz = -nx, -ny, -nz
        red, green, blue = corners[f, 9], corners[f, 10], corners[f, 11]
        if kinds[f] >= VARYING:
            red = wa * corners[f, 9] + wb * corners[f, 12] + wc * corners[f, 15]
            green = wa * corners[f, 10] + wb * corners[f, 13] + wc * corners[f, 16]
            blue = wa * corners[f, 11] + wb * corners[f, 14] + wc * corners[f, 17]
        if kinds[f] == TEXTURED:
            u = wa * corners[f, 18] + wb * corners[f, 20] + wc * corners[f, 22]
            v = wa * corners[f, 19] + wb * corners[f, 21] + wc * corners[f, 23]
            t = texture[f]
            texel = _texel(textures, atlas[t, 0], atlas[t, 1], atlas[t, 2], u, v)
            red, green, blue = red * texel[0], green * texel[1], blue * texel[2]
        work[k], work[CAP + k], work[2 * CAP + k] = nx, ny, nz
        work[3 * CAP + k], work[4 * CAP + k], work[5 * CAP + k] = red, green, blue
        work[6 * CAP + k] = corners[f, 24]


@compiled(nogil=True, inline="always", error_model="numpy")
def _light(n, lights, recolour, work):  # type: ignore[no-untyped-def]
    """Applies two-sided Blinn-Phong lighting to the colours of `n` fragments in `work`.

    The stride of `work` is constant and everything is float32, so that the compiler can vectorise.
    """
    if recolour:
        for k in range(n):
            red, green, blue = work[3 * CAP + k], work[4 * CAP + k], work[5 * CAP + k]
            work[3 * CAP + k] = max(lights[3, 0] * red + lights[3, 1] * green + lights[3, 2] * blue, ZERO)
            work[4 * CAP + k] = max(lights[4, 0] * red + lights[4, 1] * green + lights[4, 2] * blue, ZERO)
            work[5 * CAP + k] = max(lights[5, 0] * red + lights[5, 1] * green + lights[5, 2] * blue, ZERO)
    lx, ly, lz = lights[0, 0], lights[0, 1], lights[0, 2]
    hx, hy, hz = lights[1, 0], lights[1, 1], lights[1, 2]
    ux, uy, uz = lights[2, 0], lights[2, 1], lights[2, 2]
    for k in range(n):
        nx, ny, nz = work[k], work[CAP + k], work[2 * CAP + k]
        length = ONE / math.sqrt(max(nx * nx + ny * ny + nz * nz, TINY))
        diffuse = max((nx * lx + ny * ly + nz * lz) * length, ZERO)
        gloss = max((nx * hx + ny * hy + nz * hz) * length, ZERO)
        sky = (nx * ux + ny * uy + nz * uz) * length
        # Quantised in steps that are hardly visible in 8 bits: all three channels then change at the same positions,
        # and the stored frames are an eighth smaller.
        lit = np.floor((AMBIENT + SKY * sky + KEY * diffuse) * STEPS + HALF) / STEPS
        gloss *= gloss  # 16th power by squaring, as `pow` differs between machines
        gloss *= gloss
        gloss *= gloss
        gloss *= gloss
        root = np.floor(work[6 * CAP + k] * gloss * STEPS + HALF) / STEPS
        highlight = root * root
        work[3 * CAP + k] = min(work[3 * CAP + k] * lit + highlight, ONE)
        work[4 * CAP + k] = min(work[4 * CAP + k] * lit + highlight, ONE)
        work[5 * CAP + k] = min(work[5 * CAP + k] * lit + highlight, ONE)


@compiled(nogil=True, error_model="numpy")
def shade(  # type: ignore[no-untyped-def]
    planes, corners, kinds, sides, texture, atlas, textures, lights, recolour, background, work, visible, extent,
    encode, out,
):  # fmt: skip
    """Shades every pixel of `visible` that was drawn to, each surface once per pixel, and writes to `out` (N, N, C).

    `sides` (F + 1,) is the visible side of the smooth surface of every face, 0 for the background. `lights` (6, 3) are
    the directions of light, highlight and up in object axes, and the hue matrix. `work` (7 * CAP,) is scratch space.
    """
    size, channels = out.shape[1], out.shape[2]
    samples = visible.shape[0]
    factor = samples // size
    scale = np.float32((len(encode) - 1) / (factor * factor))
    seen = visible.reshape(-1)
    faces, columns = np.empty(CAP, np.uint32), np.empty(CAP, np.uint32)
    xs, ys, counts = np.empty(CAP), np.empty(CAP), np.empty(CAP, np.float32)
    totals = np.zeros((3, size), np.float32)
    touched = np.zeros(size, np.bool_)
    first_column, last_column = extent[2] // factor, extent[3] // factor + 1
    for row in range(extent[0] // factor, extent[1] // factor + 1):
        n = 0
        y0 = row * factor
        for column in range(first_column, last_column):
            corner = np.uint32(y0 * samples + column * factor)
            face = np.uint32(seen[corner])
            surface = sides[face]
            if factor == 2:  # the common case, without loops
                below = corner + np.uint32(samples)
                same = sides[np.uint32(seen[corner + np.uint32(1)])] == surface
                same &= sides[np.uint32(seen[below])] == surface
                same &= sides[np.uint32(seen[below + np.uint32(1)])] == surface
            else:
                same = True
                for i in range(factor):
                    for j in range(factor):
                        other = np.uint32(seen[corner + np.uint32(i * samples + j)])
                        same &= sides[other] == surface
            if same and surface == 0:
                continue
            touched[column] = True
            if n + factor * factor > CAP:
                _interpolate(n, faces, xs, ys, planes, corners, kinds, texture, atlas, textures, work)
                _light(n, lights, recolour, work)
                _add(n, columns, counts, work, totals)
                n = 0
            if same:
                faces[n], columns[n] = face - np.uint32(1), column
                xs[n], ys[n], counts[n] = column * factor + 0.5 * factor, y0 + 0.5 * factor, factor * factor
                n += 1
                continue
            done = np.uint64(0)  # one bit per sample
            for i in range(factor):
                for j in range(factor):
                    if done >> np.uint64(i * factor + j) & np.uint64(1):
                        continue
                    face = np.uint32(seen[corner + np.uint32(i * samples + j)])
                    surface = sides[face]
                    count, x, y = 0, 0, 0
                    for p in range(i, factor):
                        for q in range(factor):
                            if sides[np.uint32(seen[corner + np.uint32(p * samples + q)])] == surface:
                                done |= np.uint64(1) << np.uint64(p * factor + q)
                                count += 1
                                x += q
                                y += p
                    if surface == 0:
                        for c in range(3):
                            totals[c, column] += background[c] * np.float32(count)
                    else:
                        faces[n], columns[n] = face - np.uint32(1), column
                        xs[n], ys[n] = column * factor + x / count + 0.5, y0 + y / count + 0.5
                        counts[n] = count
                        n += 1
        _interpolate(n, faces, xs, ys, planes, corners, kinds, texture, atlas, textures, work)
        _light(n, lights, recolour, work)
        _add(n, columns, counts, work, totals)
        for column in range(first_column, last_column):
            if touched[column]:
                touched[column] = False
                red, green, blue = totals[0, column], totals[1, column], totals[2, column]
                totals[0, column], totals[1, column], totals[2, column] = ZERO, ZERO, ZERO
                if channels == 3:
                    out[row, column, 0] = encode[np.uint32(red * scale + HALF)]
                    out[row, column, 1] = encode[np.uint32(green * scale + HALF)]
                    out[row, column, 2] = encode[np.uint32(blue * scale + HALF)]
                else:
                    luminance = RED_SHARE * red + GREEN_SHARE * green + BLUE_SHARE * blue
                    out[row, column, 0] = encode[np.uint32(luminance * scale + HALF)]


@compiled(nogil=True, inline="always", error_model="numpy")
def _add(n, columns, counts, work, totals):  # type: ignore[no-untyped-def]
    """Adds `n` lit fragments to the sums of their pixels."""
    for k in range(n):
        column = columns[k]
        totals[0, column] += work[3 * CAP + k] * counts[k]
        totals[1, column] += work[4 * CAP + k] * counts[k]
        totals[2, column] += work[5 * CAP + k] * counts[k]


@compiled(nogil=True, error_model="numpy")
def clear(depth, visible, extent):  # type: ignore[no-untyped-def]
    """Clears the part of the buffers that the last frame drew to."""
    for row in range(extent[0], extent[1] + 1):
        depth[row, extent[2] : extent[3] + 1] = 0.0
        visible[row, extent[2] : extent[3] + 1] = 0


@compiled(nogil=True, error_model="numpy")
def draw(  # type: ignore[no-untyped-def]
    vertices, faces, hidden_back, surfaces, opacity, cutout, uv, texture, atlas, textures, corners, kinds, matrix,
    scale, directions, hue, recolour, distance, focal, factor, background, screen, planes, sides, depth, visible,
    extent, work, encode, out,
):  # fmt: skip
    """Draws a frame in a single call, as each call from Python costs some microseconds."""
    clear(depth, visible, extent)
    project(vertices, matrix, distance, focal, visible.shape[0] / 2, screen)
    find_visible(
        screen, faces, hidden_back, surfaces, opacity, cutout, uv, texture, atlas, textures, planes, sides, depth,
        visible, extent, factor,
    )  # fmt: skip
    lights = np.empty((6, 3), np.float32)
    for i in range(3):
        for j in range(3):
            # The lights are transformed to object axes once, instead of every normal to camera axes.
            light = directions[i, 0] * matrix[0, j] + directions[i, 1] * matrix[1, j] + directions[i, 2] * matrix[2, j]
            lights[i, j] = light / scale
            lights[3 + i, j] = hue[i, j]
    shade(
        planes, corners, kinds, sides, texture, atlas, textures, lights, recolour, background, work, visible, extent,
        encode, out,
    )  # fmt: skip
