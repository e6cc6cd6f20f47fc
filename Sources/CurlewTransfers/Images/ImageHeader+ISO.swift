// SPDX-License-Identifier: MIT

import CurlewHTTP

extension ImageHeader {
    /// The maximum number of boxes of one box, and of properties and items of a file.
    private static let mostBoxes = 4096

    /// AVIF and HEIC: the size among the properties of the primary item (ISO/IEC 23008-12 §6.5.3), after its
    /// transformations in their order: the clean aperture (ISO/IEC 14496-12 §12.1.4) and the rotation (§6.5.10). The
    /// mirror axis (§6.5.12) and Exif data do not change the size.
    static func iso(_ file: ImageBytes) -> ImageHeader? {
        guard file.holds("ftyp", at: 4), let subtype = subtype(file), let meta = child("meta", of: file),
            let inner = meta[4..<max(4, meta.count)], let properties = child("iprp", of: inner),
            let list = child("ipco", of: properties), let item = primaryItem(inner)
        else { return nil }
        let boxes = children(of: list)
        let own = associations(of: item, in: properties).compactMap { index in
            index > 0 && index <= boxes.count ? boxes[index - 1] : nil
        }
        guard let extent = own.first(where: { $0.type == code("ispe") })?.content, extent[0] == 0,
            var width = extent.number(at: 4, 4), var height = extent.number(at: 8, 4)
        else { return nil }
        for box in own {
            if box.type == code("irot"), let angle = box.content[0], angle & 1 == 1 {
                swap(&width, &height)
            } else if box.type == code("clap"), let cut = aperture(box.content), cut.width <= width,
                cut.height <= height
            {
                (width, height) = cut
            }
        }
        return ImageHeader(subtype, width, height)
    }

    /// Returns the size of a clean aperture; nil unless both sides are whole numbers.
    private static func aperture(_ box: ImageBytes) -> (width: UInt32, height: UInt32)? {
        func side(at place: Int) -> UInt32? {
            guard let count = box.number(at: place, 4), let divisor = box.number(at: place + 4, 4), divisor > 0,
                count % divisor == 0, count > 0
            else { return nil }
            return count / divisor
        }
        guard let width = side(at: 0), let height = side(at: 8) else { return nil }
        return (width, height)
    }

    /// Returns the subtype for the brands of a file: the major one and those that it is compatible with.
    private static func subtype(_ file: ImageBytes) -> String? {
        guard let type = children(of: file, most: 1).first?.content else { return nil }
        // The bytes from 4 to 7 are a version.
        let places = [0] + stride(from: 8, to: min(type.count, 8 + 4 * 64), by: 4)
        let brands = places.compactMap { type.number(at: $0, 4) }
        if brands.contains(where: { [code("avif"), code("avis")].contains($0) }) { return "avif" }
        let heic = [code("heic"), code("heix"), code("heim"), code("heis"), code("hevc"), code("hevx")]
        if brands.contains(where: heic.contains) { return "heic" }
        return brands.contains(code("mif1")) ? "heif" : nil
    }

    private static func primaryItem(_ meta: ImageBytes) -> UInt32? {
        guard let box = child("pitm", of: meta), let version = box[0] else { return nil }
        return box.number(at: 4, version == 0 ? 2 : 4)
    }

    /// Returns the numbers of the properties of an item, from 1, in order.
    private static func associations(of item: UInt32, in properties: ImageBytes) -> [Int] {
        for box in children(of: properties) where box.type == code("ipma") {
            let content = box.content
            guard let version = content[0], let flags = content[3], let count = content.number(at: 4, 4) else {
                continue
            }
            let idWidth = version < 1 ? 2 : 4
            let indexWidth = flags & 1 == 1 ? 2 : 1
            var position = 8
            for _ in 0..<min(Int(clamping: count), mostBoxes) {
                guard let id = content.number(at: position, idWidth), let number = content[position + idWidth] else {
                    break
                }
                position += idWidth + 1
                if id == item {
                    // The first bit says whether the property is essential.
                    return (0..<Int(number)).compactMap { place in
                        content.number(at: position + place * indexWidth, indexWidth)
                            .map { Int($0 & (indexWidth == 2 ? 0x7FFF : 0x7F)) }
                    }
                }
                position += Int(number) * indexWidth
            }
        }
        return []
    }

    private static func child(_ name: StaticString, of parent: ImageBytes) -> ImageBytes? {
        children(of: parent).first { $0.type == code(name) }?.content
    }

    /// Returns the boxes inside a box, or at the top of a file. Stops at the first one that does not fit.
    private static func children(
        of parent: ImageBytes, most: Int = mostBoxes
    ) -> [(type: UInt32, content: ImageBytes)] {
        var result: [(type: UInt32, content: ImageBytes)] = []
        var position = 0
        while result.count < most, let size = parent.number(at: position, 4),
            let type = parent.number(at: position + 4, 4)
        {
            var head = 8
            var length = Int64(size)
            if size == 1 {
                guard let high = parent.number(at: position + 8, 4), high < 0x8000,
                    let low = parent.number(at: position + 12, 4)
                else { break }
                head = 16
                length = Int64(high) << 32 | Int64(low)
            } else if size == 0 {
                length = Int64(parent.count - position)
            }
            guard length >= Int64(head), length <= Int64(parent.count - position),
                let content = parent[(position + head)..<(position + Int(length))]
            else { break }
            result.append((type, content))
            position += Int(length)
        }
        return result
    }

    private static func code(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }
}
