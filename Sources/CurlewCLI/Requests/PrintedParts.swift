// SPDX-License-Identifier: MIT

/// The parts of an exchange that are printed.
struct PrintedParts: OptionSet, Sendable {
    var rawValue: Int

    static let requestHead = PrintedParts(rawValue: 1)
    static let requestBody = PrintedParts(rawValue: 2)
    static let responseHead = PrintedParts(rawValue: 4)
    static let responseBody = PrintedParts(rawValue: 8)
    static let summary = PrintedParts(rawValue: 16)

    init(rawValue: Int) { self.rawValue = rawValue }

    init(_ arguments: ParsedArguments, isTerminal: Bool) throws(UsageError) {
        self = []
        if arguments.has(.headers) { insert(.responseHead) }
        if arguments.has(.body) { insert(.responseBody) }
        if arguments.has(.meta) { insert(.summary) }
        if arguments.has(.verbose) { self = [.requestHead, .requestBody, .responseHead, .responseBody, .summary] }
        for letter in arguments[.print] ?? "" {
            switch letter {
            case "H": insert(.requestHead)
            case "B": insert(.requestBody)
            case "h": insert(.responseHead)
            case "b": insert(.responseBody)
            case "m": insert(.summary)
            default: throw UsageError("--print cannot have \"\(letter)\".", "It can have H, B, h, b and m.")
            }
        }
        let isChosen = !isEmpty || arguments.has(.print)
        if !isChosen { self = isTerminal ? [.responseHead, .responseBody] : .responseBody }
    }
}
