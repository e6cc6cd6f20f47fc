// SPDX-License-Identifier: MIT

/// A date and time of day in UTC, in the proleptic Gregorian calendar. Needs no formatter or time zone database.
struct CivilTime {
    var year: Int
    /// The month, 1–12.
    var month: Int
    /// The day of the month, 1–31.
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The first second of the year 0, in seconds since 1970.
    static let earliest: Int64 = -62_167_219_200
    /// The last second of the year 9999, in seconds since 1970.
    static let latest: Int64 = 253_402_300_799

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The day of the week, from 0 for Sunday to 6 for Saturday.
    var weekday: Int {
        let days = Self.days(year: year, month: month, day: day)
        return ((days + 4) % 7 + 7) % 7
    }

    /// Whether the date and time exist. Second 60 is allowed for leap seconds.
    var isValid: Bool {
        (1...12).contains(month) && (1...Self.length(ofMonth: month, year: year)).contains(day)
            && (0...23).contains(hour) && (0...59).contains(minute) && (0...60).contains(second)
    }

    var secondsSince1970: Int64 {
        let days = Self.days(year: year, month: month, day: day)
        return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// Returns the days since 1 January 1970.
    ///
    /// The calculation begins years in March, so that a leap day is the last day of its year. The calendar repeats
    /// every 400 years.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CivilTime {
    init(secondsSince1970 seconds: Int64) {
        let ofDay = ((seconds % 86_400) + 86_400) % 86_400
        let shifted = Int((seconds - ofDay) / 86_400) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = Int(ofDay / 3600)
        minute = Int(ofDay / 60 % 60)
        second = Int(ofDay % 60)
    }
}
