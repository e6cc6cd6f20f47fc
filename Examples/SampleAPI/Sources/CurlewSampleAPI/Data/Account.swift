// SPDX-License-Identifier: MIT

/// A user who can sign in. The passwords of the sample data are public.
struct Account: Encodable, Sendable {
    let id: Int
    let firstName, lastName, maidenName: String
    let age: Int
    let gender, email, phone, username, password, birthDate: String
    /// The path of the picture on the origin that serves the pictures. ``shown(with:)`` converts it to a URL.
    var image: String
    let bloodGroup: String
    let height, weight: Double
    let eyeColor: String

    /// Returns the account with the URL of its image.
    func shown(with assetsURL: String) -> Account {
        var copy = self
        copy.image = assetsURL + image
        return copy
    }

    private init(
        _ id: Int, _ first: String, _ last: String, maiden: String = "", _ username: String, _ age: Int,
        _ gender: String, born birthDate: String, _ bloodGroup: String, _ height: Double, _ weight: Double,
        eyes eyeColor: String
    ) {
        self.id = id
        firstName = first
        lastName = last
        maidenName = maiden
        self.username = username
        self.age = age
        self.gender = gender
        self.birthDate = birthDate
        self.bloodGroup = bloodGroup
        self.height = height
        self.weight = weight
        self.eyeColor = eyeColor
        password = username + "pass"
        email = "\(first).\(last)@example.com".lowercased()
        phone = "+44 20 7946 \(String(1000 + id * 37).suffix(4))"
        image = "/avatars/\(username).png"
    }

    static let all = [
        Account(
            1, "Emily", "Johnson", maiden: "Smith", "emilys", 29, "female", born: "1996-05-30", "O-", 168.4, 63.2,
            eyes: "Green"),
        Account(
            2, "Michael", "Williams", "michaelw", 36, "male", born: "1989-08-10", "B+", 186.2, 81.5, eyes: "Red"),
        Account(
            3, "Sophia", "Brown", maiden: "Hale", "sophiab", 43, "female", born: "1982-11-06", "O-", 177.7, 59.8,
            eyes: "Hazel"),
        Account(
            4, "James", "Davis", "jamesd", 46, "male", born: "1979-05-04", "AB+", 193.3, 82.1, eyes: "Amber"),
        Account(
            5, "Emma", "Miller", maiden: "Johnson", "emmaj", 31, "female", born: "1994-06-13", "AB-", 172.9, 63.5,
            eyes: "Green"),
        Account(
            6, "Olivia", "Wilson", "oliviaw", 23, "female", born: "2002-04-20", "B+", 182.6, 78.0, eyes: "Brown"),
        Account(
            7, "Alexander", "Jones", "alexanderj", 39, "male", born: "1986-10-20", "AB-", 180.0, 88.4, eyes: "Blue"),
        Account(
            8, "Ava", "Taylor", "avat", 28, "female", born: "1997-08-25", "AB-", 165.3, 55.9, eyes: "Green"),
        Account(
            9, "Ethan", "Martinez", "ethanm", 34, "male", born: "1991-02-12", "AB+", 179.0, 74.2, eyes: "Green"),
        Account(
            10, "Isabella", "Anderson", maiden: "Davis", "isabellad", 32, "female", born: "1993-06-10", "A-", 170.7,
            61.1, eyes: "Brown"),
    ]
}
