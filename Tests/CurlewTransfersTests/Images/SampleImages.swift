// SPDX-License-Identifier: MIT

/// Real files of each format, made with Pillow as the comments say.
enum SampleImages {
    struct Sample: Sendable, CustomStringConvertible {
        let description: String
        let mediaType: String
        let width: Int
        let height: Int
        let base64: String

        var bytes: Data { Data(base64Encoded: base64) ?? Data() }
    }

    static let all = [
        // Image.new("1", (6, 4)).save(file, "PNG")
        Sample(
            description: "png", mediaType: "image/png", width: 6, height: 4,
            base64: "iVBORw0KGgoAAAANSUhEUgAAAAYAAAAEAQAAAACFf3PuAAAAC0lEQVR4nGNggAAAAAgAAbdYc5UAAAAASUVORK5CYII="),
        // Image.new("P", (6, 4)).save(file, "GIF")
        Sample(
            description: "gif", mediaType: "image/gif", width: 6, height: 4,
            base64: "R0lGODdhBgAEAIAAAAAAAAAAACwAAAAABgAEAAAICwABCBxIsKDBgQEBADs="),
        // Image.new("L", (6, 4)).save(file, "JPEG", quality=5, progressive=True)
        Sample(
            description: "progressive", mediaType: "image/jpeg", width: 6, height: 4,
            base64: "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAKBueIx4ZKCMgoy0qqC+8P//8Nzc8P//////////////////////////////////"
                + "////////////////////////wgALCAAEAAYBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAv/aAAgBAQAAAAEf/8QAFBABAAAA"
                + "AAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAA"
                + "AAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEH//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/EH//2Q=="),
        // the same, baseline, with exif[0x0112] = 6
        Sample(
            description: "turned jpeg", mediaType: "image/jpeg", width: 6, height: 4,
            base64: "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAKBueIx4ZKCMgoy0"
                + "qqC+8P//8Nzc8P//////////////////////////////////////////////////////////wAALCAAEAAYBAREA/8QAHwAA"
                + "AQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEI"
                + "I0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJ"
                + "ipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEB"
                + "AAA/AIa//9k="),
        // Image.new("RGB", (6, 4), (200, 30, 30)).save(file, "WEBP", quality=1)
        Sample(
            description: "lossy webp", mediaType: "image/webp", width: 6, height: 4,
            base64: "UklGRjAAAABXRUJQVlA4ICQAAABwAQCdASoGAAQADMDOJaACdAFAAAD+2iYRho1+LuxHGSQAAAA="),
        // the same with lossless=True
        Sample(
            description: "lossless webp", mediaType: "image/webp", width: 6, height: 4,
            base64: "UklGRh4AAABXRUJQVlA4TBEAAAAvBcAAAAdQjyLXo/+BiOh/AAA="),
        // Image.new("RGBA", (6, 4), (1, 2, 3, 100)).save(file, "WEBP", quality=1)
        Sample(
            description: "extended webp", mediaType: "image/webp", width: 6, height: 4,
            base64: "UklGRkgAAABXRUJQVlA4WAoAAAAQAAAABQAAAwAAQUxQSAoAAAABB1CyiAhERP8DVlA4IBgAAAAwAQCdASoGAAQADMDOJaQA"
                + "A3AA/uwdgAA="),
    ]
}
