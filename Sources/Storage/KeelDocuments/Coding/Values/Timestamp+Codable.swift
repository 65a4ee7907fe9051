internal import KeelCore

extension Timestamp: Codable {
    /// Decodes a timestamp; from other formats than documents, an RFC 3339 string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let reader = container as? ValueReader {
            self = try reader.decode(Timestamp.self)
            return
        }
        guard let time = Timestamp(rfc3339: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a time like 2026-03-01T12:30:00.250000Z"
            )
        }
        self = time
    }

    /// Encodes a timestamp; in other formats than documents, an RFC 3339 string in UTC with six fractional digits, such
    /// as `2026-03-01T12:30:00.250000Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let writer = container as? ValueWriter {
            try writer.encode(self)
        } else {
            try container.encode(rfc3339)
        }
    }
}

extension Timestamp {
    package var rfc3339: String { InternetTime.text(ofMicroseconds: microseconds) }

    /// Creates a timestamp from an RFC 3339 string; digits beyond microseconds are dropped.
    package init?(rfc3339 text: String) {
        guard let microseconds = InternetTime.microseconds(of: text) else { return nil }
        self.init(microseconds: microseconds)
    }
}
