// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

extension CookieStore {
    /// The domain names under which the public can register domains, such as `com` and `co.uk`. A cookie for all
    /// domains under such a name would be sent to servers with unrelated owners, so it is refused (RFC 6265bis §5.7).
    ///
    /// The rules are those of publicsuffix.org: the longest match applies, `*` matches one label, `!` marks an
    /// exception, and for a name without a rule, the last label is public. The parent of a wildcard is public too, as
    /// in libpsl: the names beneath `compute.amazonaws.com` have different owners, so no cookie is accepted for all of
    /// them.
    public struct PublicSuffixList: Sendable {
        private enum Source: Sendable {
            case table
            case rules(Rules)
        }

        private let source: Source

        /// The list that ships with the package, the same on every system. It is searched in place in the binary,
        /// without reading a file or building a table.
        public static let bundled = PublicSuffixList(source: .table)

        /// The list of this system, which may be newer than `bundled`. The file
        /// `/usr/share/publicsuffix/public_suffix_list.dat` (package `publicsuffix` on Debian and Ubuntu) is read once,
        /// when the list is first needed. If it is missing, larger than 8 MiB, or without rules, the list is `bundled`.
        public static let system: PublicSuffixList = {
            let text = try? PrivateFile.read("/usr/share/publicsuffix/public_suffix_list.dat", limit: 8 << 20)
            return text.map { PublicSuffixList(parsing: String(decoding: $0, as: UTF8.self)) } ?? .bundled
        }()

        /// Parses a list in the format of publicsuffix.org. If the text contains no rules, `bundled` is used.
        public init(parsing text: String) {
            let rules = Rules(text)
            source = rules.isEmpty ? .table : .rules(rules)
        }

        private init(source: Source) {
            self.source = source
        }

        /// Returns whether the public can register names directly beneath `domain`. `domain` may contain capitals and
        /// characters outside ASCII.
        package func isPublic(_ domain: String) -> Bool {
            let labels = Self.labels(Punycode.hostName(domain) ?? domain).filter { !$0.isEmpty }
            return !labels.isEmpty && publicLabels(labels) >= labels.count
        }

        /// Returns the part of `host` that has one owner: the public suffix plus one label. Returns the host itself if
        /// it is an address or a public suffix.
        func site(of host: String) -> Substring {
            let host = host.utf8.last == UInt8(ascii: ".") ? Substring(host.utf8.dropLast()) : host[...]
            return CookieMatching.isAddress(String(host)) ? host : registrable(host) ?? host
        }

        /// Returns the registrable domain of `name` (the public suffix plus one label) as written in `name`; nil if
        /// there is none.
        func registrable(_ name: Substring) -> Substring? {
            guard let host = Punycode.hostName(String(name)) else { return nil }
            let written = Self.labels(name)
            let labels = Self.labels(host)
            let count = publicLabels(labels) + 1
            // An empty label, for example before a leading dot, makes the name invalid.
            guard count <= labels.count, labels.count == written.count, !labels.contains(where: \.isEmpty) else {
                return nil
            }
            return name[written[written.count - count].startIndex...]
        }

        private static func labels(_ name: some StringProtocol) -> [Substring] {
            Substring(name).parts(".", keepingEmpty: true)
        }

        /// Returns the number of public labels, counted from the end.
        private func publicLabels(_ labels: [Substring]) -> Int {
            switch source {
            case .table: return SuffixTable.publicLabels(of: labels.reversed())
            case .rules(let rules): return rules.publicLabels(of: labels)
            }
        }

        private struct Rules: Sendable {
            private var plain: Set<String> = []
            /// The names beneath which every label is public, such as `kawasaki.jp` for the rule `*.kawasaki.jp`. They
            /// are also in `plain`.
            private var wildcards: Set<String> = []
            private var exceptions: Set<String> = []
            private var maximum = 1

            init(_ text: String) {
                for line in text.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                    let word = line.drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 > 0x20 }
                    guard let first = word.first, !word.starts(with: "//".utf8) else { continue }
                    let isException = first == UInt8(ascii: "!")
                    let isWildcard = word.starts(with: "*.".utf8)
                    let name = String(decoding: word.dropFirst(isException ? 1 : isWildcard ? 2 : 0), as: UTF8.self)
                    guard let name = Punycode.hostName(name), !name.isEmpty else { continue }
                    maximum = max(maximum, name.utf8.count { $0 == UInt8(ascii: ".") } + 2)
                    if isException {
                        exceptions.insert(name)
                    } else if isWildcard {
                        wildcards.insert(name)
                        plain.insert(name)
                    } else {
                        plain.insert(name)
                    }
                }
            }

            var isEmpty: Bool { plain.isEmpty && wildcards.isEmpty }

            func publicLabels(of labels: [Substring]) -> Int {
                var result = min(1, labels.count)
                var suffix = ""
                for (count, label) in labels.reversed().prefix(maximum).enumerated() {
                    // Here `suffix` has `count` labels and does not include the current label.
                    if count > 0, wildcards.contains(suffix) { result = count + 1 }
                    suffix = suffix.isEmpty ? String(label) : "\(label).\(suffix)"
                    if exceptions.contains(suffix) { return count }
                    if plain.contains(suffix) { result = count + 1 }
                }
                return result
            }
        }
    }
}
