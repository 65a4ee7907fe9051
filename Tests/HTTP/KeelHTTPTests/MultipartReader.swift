import Foundation

/// A parser of multipart bodies, written independently of the code under test.
struct MultipartReader {
    struct Part: Equatable {
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Returns the parts of a body, or nil if it is not well formed.
    static func parts(of body: [UInt8], boundary: String) -> [Part]? {
        // Every delimiter begins a line; a line end before the body makes the first one like the rest.
        let delimiter = Array("\r\n--\(boundary)".utf8)
        let bytes = [0x0D, 0x0A] + body
        var places: [Int] = []
        var index = 0
        while index + delimiter.count <= bytes.count {
            if bytes[index] == 0x0D, bytes[index...].starts(with: delimiter) {
                places.append(index)
                index += delimiter.count
            } else {
                index += 1
            }
        }
        guard places.first == 0, let last = places.last,
            Array(bytes[(last + delimiter.count)...]) == Array("--\r\n".utf8)
        else { return nil }
        var parts: [Part] = []
        for (start, end) in zip(places, places.dropFirst()) {
            guard let part = part(Array(bytes[(start + delimiter.count)..<end])) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private static func part(_ bytes: [UInt8]) -> Part? {
        guard bytes.starts(with: [0x0D, 0x0A]) else { return nil }
        let blankLine: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        guard
            let end = bytes.indices.first(where: { index in
                bytes[index] == 0x0D && bytes[index...].starts(with: blankLine)
            })
        else { return nil }
        var headers: [String: String] = [:]
        for line in String(decoding: bytes[2..<end], as: UTF8.self).components(separatedBy: "\r\n")
        {
            guard let colon = line.range(of: ": ") else { return nil }
            headers[line[..<colon.lowerBound].lowercased()] = String(line[colon.upperBound...])
        }
        return Part(headers: headers, body: Array(bytes[(end + 4)...]))
    }
}
