// SPDX-License-Identifier: MIT

import Curlew
import FilmCatalogue

extension FilmSource {
    /// What a screen says above a value that may be out of date; nil if there is nothing to say.
    func notice(at now: Date = Date()) -> String? {
        guard case .offline(let date) = self else { return nil }
        return "The catalogue does not answer. This is what it said \(Self.age(now.timeIntervalSince(date)))."
    }

    /// "5 minutes ago"
    private static func age(_ seconds: Double) -> String {
        let units: [(name: String, seconds: Double)] = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)]
        for unit in units where seconds >= unit.seconds {
            let count = Int(seconds / unit.seconds)
            return "\(count) \(unit.name)\(count == 1 ? "" : "s") ago"
        }
        return "just now"
    }
}
