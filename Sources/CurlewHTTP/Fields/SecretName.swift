// SPDX-License-Identifier: MIT

/// Decides from a name whether the value is a secret: for header fields, query items, form fields, cookies, members of
/// JSON, and names in text.
///
/// A name is read as words: `X-Api-Key`, `apiKeys`, `API_KEY_2` and `api.key.value` are the words `api` and `key`, with
/// words that change nothing. A secret noun decides, in singular or plural, on its own or at the end of a longer word
/// (`accesstoken`). The word before it can make it ordinary (`cacheKey`, `status_code`), and so can a property after it
/// (`token_type`). If the words are unknown, the name is treated as a secret: a needless `REDACTED` costs less.
enum SecretName {
    /// The syntax in which a name occurs. Some short names are secret only in some of them.
    enum Location {
        /// A header field.
        case field
        /// A query item, a form field, or a name before an equals sign in text.
        case pair
        /// A member of JSON, or a name before a colon in text.
        case member
    }

    /// Returns whether the value of `name` is a secret. Only the last 128 bytes of a longer name count.
    static func isSecret(_ name: some BidirectionalCollection<UInt8>, in location: Location) -> Bool {
        let name = name.suffix(128)
        guard mayBeSecret(name) else { return false }
        let words = words(name)
        let plain = words.joined()
        if wholeNames.contains(plain) || location == .field && isIdentity(plain) { return true }
        if location != .member && bareNames.contains(plain) { return true }
        for index in words.indices where isSecret(words, at: index, in: location) { return true }
        return isTerm(words[...])
    }

    /// Returns whether three letters of the name begin a word of the lists. Most names are ordinary, and this is much
    /// faster than to compare words.
    private static func mayBeSecret(_ name: some Collection<UInt8>) -> Bool {
        var letters = 0
        for byte in name where ASCII.isLetter(byte) {
            letters = (letters << 5 | Int(byte & 31)) & 0x7FFF
            if beginnings[letters] { return true }
        }
        return false
    }

    private static let beginnings: [Bool] = {
        var beginnings = [Bool](repeating: false, count: 1 << 15)
        for word in nouns.union(endings).union(phrases).union(wholeNames).union(bareNames).union(identities) {
            beginnings[word.utf8.prefix(3).reduce(0) { $0 << 5 | Int($1 & 31) }] = true
        }
        return beginnings
    }()

    /// Returns whether the words end in one of `phrases`, also if `additions` follow.
    private static func isTerm(_ words: ArraySlice<String>) -> Bool {
        let plain = words.joined()
        if phrases.contains(where: { plain.ends(with: $0) || plain.ends(with: $0 + "s") }) { return true }
        return words.last.map(isAddition) == true && isTerm(words.dropLast())
    }

    private static func isAddition(_ word: String) -> Bool {
        additions.contains(word) || word.utf8.allSatisfy(ASCII.isDigit)
    }

    private static func isSecret(_ words: [String], at index: Int, in location: Location) -> Bool {
        guard let (noun, qualifier, isPlural) = noun(words[index]) else { return false }
        let before = qualifier.isEmpty && index > 0 ? words[index - 1] : qualifier
        if ordinary[noun]?.contains(before) == true { return false }
        let after = words[(index + 1)...]
        if strongNouns.contains(noun) {
            // Models of language count in tokens: `max_tokens`, `totalTokens`, `tokens_used`.
            if isPlural, noun == "token", !quantities.isDisjoint(with: [before] + words) { return false }
            return !after.contains(where: properties.contains)
        }
        guard after.allSatisfy(isAddition) else { return false }
        // `key` is often the key of a table, and `code` the code of an error.
        return !before.isEmpty && before != "x" || !bareNames.contains(noun) || location != .member && !isPlural
    }

    /// Returns the secret noun that the word is or ends in, and the rest of the word.
    private static func noun(_ word: String) -> (noun: String, qualifier: String, isPlural: Bool)? {
        for isPlural in [false, true] {
            guard !isPlural || word.utf8.last == UInt8(ascii: "s") else { break }
            let singular = isPlural ? String(word.dropLast()) : word
            if nouns.contains(singular) { return (singular, "", isPlural) }
            if let noun = endings.first(where: { singular.ends(with: $0) }) {
                return (noun, String(Substring(singular.utf8.dropLast(noun.utf8.count))), isPlural)
            }
        }
        return nil
    }

    private enum Kind { case lower, upper, digit, other }

    /// Returns the words of a name in lower case. A word ends at a change of case, at a digit, and at every byte that is
    /// neither a letter of ASCII nor a digit.
    static func words(_ name: some Sequence<UInt8>) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var last = Kind.other
        func end(_ bytes: some Collection<UInt8>) {
            if !bytes.isEmpty { words.append(String(decoding: bytes, as: UTF8.self)) }
        }
        for byte in name {
            let kind: Kind =
                if ASCII.isUpper(byte) { .upper } else if ASCII.isLetter(byte) { .lower } else {
                    ASCII.isDigit(byte) ? .digit : .other
                }
            if last == .upper, kind == .lower {
                // In `APIKey`, the last upper-case letter begins the word.
                end(word.dropLast())
                word.removeFirst(word.count - 1)
            } else if kind != last {
                end(word)
                word.removeAll(keepingCapacity: true)
            }
            if kind != .other { word.append(ASCII.lower(byte)) }
            last = kind
        }
        end(word)
        return words
    }

    /// Returns whether a field with this name identifies a user, with or without `X-` in front.
    private static func isIdentity(_ plain: String) -> Bool {
        identities.contains(plain)
            || plain.utf8.first == UInt8(ascii: "x") && identities.contains(String(Substring(plain.utf8.dropFirst())))
    }

    /// Returns the name in lower case and without separators: spaces, colons, brackets, and the characters `-_.`.
    static func plain(_ name: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 where !separators.contains(byte) { bytes.append(ASCII.lower(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let separators = Array("-_.[] :".utf8)
}
