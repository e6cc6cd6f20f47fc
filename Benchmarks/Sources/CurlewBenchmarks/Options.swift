// SPDX-License-Identifier: MIT

/// What the command line asks for.
struct Options {
    var suites: [SuiteName] = [.small]
    var format = Format.text
    /// Few and short rounds: to see that everything runs, not to quote.
    var quick = false
    private var askedClients: [String]?
    private var askedWidths: [Int]?
    private var askedRounds: Int?
    private var askedSeconds: Double?

    enum Format {
        case text, markdown, json
    }

    static let help = """
        usage: Scripts/bench [--suite=NAME,…] [--quick] [--json | --markdown] [--widths=1,64] [--rounds=7] [--seconds=5]
                             [--clients=curlew,curl]

        With few clients more rounds fit into the same time, and those of one round are closer together.

        suites:
        \(SuiteName.allCases.map { "  \($0.rawValue.padded(to: 12))\($0.summary)" }.joined(separator: "\n"))
          all         every one of them
        """

    init(_ arguments: [String]) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            let value = parts.count > 1 ? parts[1] : ""
            switch parts.first {
            case "--json": format = .json
            case "--markdown": format = .markdown
            case "--quick": quick = true
            case "--suite": suites = try Self.suites(value)
            case "--clients": askedClients = value.split(separator: ",").map(String.init)
            case "--widths": askedWidths = try Self.list(value, argument)
            case "--rounds": askedRounds = try Self.list(value, argument).first
            case "--seconds":
                guard let seconds = Double(value), seconds > 0 else { throw Failure("\(argument): a number is needed") }
                askedSeconds = seconds
            default: throw Failure("unknown argument \(argument)\n\n\(Self.help)")
            }
        }
    }

    /// A transfer of a gigabyte takes what it takes; hence fewer of them.
    func rounds(transfers: Bool) -> Int { askedRounds ?? (quick ? 2 : transfers ? 5 : 7) }
    var seconds: Double { askedSeconds ?? (quick ? 0.5 : 5) }
    func clients(_ usual: [String]) -> [String] {
        askedClients.map { asked in usual.filter(asked.contains) } ?? usual
    }
    func widths(_ usual: [Int]) -> [Int] { askedWidths ?? usual }
    /// Bytes of the large file.
    var large: Int { quick ? 64 << 20 : 1 << 30 }

    private static func suites(_ text: String) throws -> [SuiteName] {
        if text == "all" { return SuiteName.allCases }
        return try text.split(separator: ",").map {
            guard let name = SuiteName(rawValue: String($0)) else {
                throw Failure("no suite is called \($0)\n\n\(help)")
            }
            return name
        }
    }

    private static func list(_ text: String, _ argument: String) throws -> [Int] {
        let numbers = text.split(separator: ",").map { Int($0) }
        guard !numbers.isEmpty, !numbers.contains(where: { ($0 ?? 0) < 1 }) else {
            throw Failure("\(argument): whole numbers from one on are needed")
        }
        return numbers.compactMap { $0 }
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
