// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Encodes host names that contain non-ASCII characters for the DNS (RFC 3492).
enum Punycode {
    /// Returns the name with each non-ASCII label as `xn--…`, or `nil` if such a label has more than 63 characters.
    ///
    /// The name must be in lower case and normalised: no mapping is applied.
    static func encodeName(_ name: String) -> String? {
        guard name.utf8.contains(where: { $0 >= 0x80 }) else { return name }
        var labels: [String] = []
        for label in name.parts(".", keepingEmpty: true) {
            guard let encoded = encode(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    /// Returns the name in lower case, with each non-ASCII label as `xn--…`, or `nil` if such a label has more than 63
    /// characters.
    static func hostName(_ name: String) -> String? {
        name.utf8.allSatisfy { $0 < 0x80 } ? ASCII.lowercased(name) : encodeName(name.lowercased())
    }

    private static func encode(_ label: Substring) -> String? {
        let input = label.unicodeScalars.map { Int($0.value) }
        guard input.contains(where: { $0 >= 0x80 }) else { return String(label) }
        guard input.count <= 63 else { return nil }
        var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(0x2D) }
        var state = (code: 0x80, delta: 0, bias: 72, handled: basic)
        while state.handled < input.count {
            let next = input.filter { $0 >= state.code }.min() ?? state.code
            state.delta += (next - state.code) * (state.handled + 1)
            state.code = next
            for point in input {
                if point < state.code { state.delta += 1 }
                guard point == state.code else { continue }
                append(state.delta, bias: state.bias, to: &output)
                state.bias = adapted(state.delta, count: state.handled + 1, isFirst: state.handled == basic)
                state.delta = 0
                state.handled += 1
            }
            state.delta += 1
            state.code += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    /// Appends a variable-length integer (RFC 3492 §3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var remainder = number
        var position = 36
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard remainder >= threshold else { return output.append(digit(remainder)) }
            output.append(digit(threshold + (remainder - threshold) % (36 - threshold)))
            remainder = (remainder - threshold) / (36 - threshold)
            position += 36
        }
    }

    /// Returns the adapted bias for the next delta (RFC 3492 §3.4).
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30)
    }
}
