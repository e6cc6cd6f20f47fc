// SPDX-License-Identifier: MIT

import Curlew

/// An error in the arguments: what is wrong, and what to do instead. The exit code is 2.
struct UsageError: Error, Hashable {
    let message: String
    let advice: String

    init(_ message: String, _ advice: String = "Run `curlew --help`.") {
        self.message = message
        self.advice = advice
    }
}

/// The arguments of one run: the command, its options and its operands.
struct ParsedArguments: Sendable {
    private(set) var command = CommandName.request
    private(set) var operands: [String] = []
    private var values: [OptionName: [String]] = [:]

    /// Reads the arguments by the table of options.
    ///
    /// Options and operands may be mixed. `--name VALUE` and `--name=VALUE` are equal, as are `-n VALUE` and `-nVALUE`;
    /// short switches can be joined. After `--`, every argument is an operand. The last of several equal options is
    /// used, unless the help says that the option can be repeated.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        if let first = rest.first, let name = CommandName(rawValue: first), name != .request {
            command = name
            rest = rest.dropFirst()
        }
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                break
            }
            if argument.begins(with: "--") {
                let name = argument.dropFirst(2).upTo("=")
                let value = argument.first("=").map { String(argument[$0...].dropFirst()) }
                try read(OptionTable.option(long: name), "--" + name, value, &rest)
            } else if argument.begins(with: "-"), argument != "-" {
                var letters = argument.dropFirst()
                while let letter = letters.popFirst() {
                    let option = OptionTable.all.first { $0.short == letter }
                    let value = option?.argument == nil || letters.isEmpty ? nil : String(letters)
                    if value != nil { letters = "" }
                    try read(option, "-\(letter)", value, &rest)
                }
            } else {
                operands.append(argument)
            }
        }
        try checkGroups()
        let spec = CommandSpec.named(command)
        if let maximum = spec.maximumOperands, operands.count > maximum {
            throw UsageError("\"\(operands[maximum])\" is one argument too many.", "Write curlew \(spec.usage).")
        }
    }

    /// Reads arguments, and adds the options of `other`, which replace equal ones.
    init(_ arguments: [String], overriddenBy other: ParsedArguments) throws(UsageError) {
        try self.init(arguments)
        values.merge(other.values) { $1 }
    }

    func has(_ name: OptionName) -> Bool { values[name] != nil }

    /// The argument of an option; nil if the option is absent.
    subscript(name: OptionName) -> String? { values[name]?.last }

    /// The arguments of an option that can be repeated.
    func all(_ name: OptionName) -> [String] { values[name] ?? [] }

    /// The argument of an option as a whole number in a range.
    func number(_ name: OptionName, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError(
                "--\(name.rawValue) needs a number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\".")
        }
        return number
    }

    /// The argument of an option in seconds, which may have decimals.
    func seconds(_ name: OptionName) throws(UsageError) -> Duration? {
        guard let text = self[name] else { return nil }
        guard let number = Double(text), number > 0, number <= 31_536_000 else {
            throw UsageError("--\(name.rawValue) needs a number of seconds, not \"\(text)\".")
        }
        return .seconds(number)
    }

    private mutating func read(
        _ option: CommandOption?, _ written: String, _ inlined: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) {
        guard let option else {
            throw UsageError("\(written) is not an option.", Self.replaced[written] ?? "Run `curlew --help`.")
        }
        guard let argument = option.argument else {
            guard inlined == nil else {
                throw UsageError("\(option.long) takes no argument.", "Write \(option.long).")
            }
            values[option.name] = [""]
            return
        }
        guard let value = inlined ?? rest.popFirst() else {
            throw UsageError("\(option.long) needs an argument.", "Write \(option.long) \(argument).")
        }
        guard option.choices.isEmpty || option.choices.contains(value) else {
            throw UsageError(
                "\(option.long) cannot be \"\(value)\".", "It can be \(option.choices.joined(separator: ", ")).")
        }
        values[option.name, default: []].append(value)
    }

    private func checkGroups() throws(UsageError) {
        let groups = CommandSpec.named(command).groups
        for option in OptionTable.all where has(option.name) && !groups.contains(option.group) {
            let commands = CommandSpec.all.filter { $0.groups.contains(option.group) }
            let subject = command == .request ? "a request" : "`curlew \(command.rawValue)`"
            let names = commands.map { $0.name == .request ? "requests" : $0.name.rawValue }.joined(separator: ", ")
            let advice = "It is an option of: \(names)."
            throw UsageError("\(option.long) does not apply to \(subject).", advice)
        }
    }

    /// What to write instead of well-known options of curl.
    private static let replaced = [
        "-k": "Certificates are always verified. Trust a private authority with --cacert FILE.",
        "-X": "Write the method before the URL: curlew POST URL.",
        "-H": "Write the field after the URL: curlew URL Name:value.",
        "-d": "Write the data after the URL: curlew URL name=value, or --raw TEXT.",
        "-u": "Write --auth USER:PASSWORD.", "-x": "Write --proxy URL.", "-L": "Write --follow.",
    ]
}
