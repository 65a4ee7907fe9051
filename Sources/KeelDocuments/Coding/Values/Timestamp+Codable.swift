internal import KeelCore

extension Timestamp: Codable {
    /// Reads a timestamp; from other formats than documents, RFC 3339 text.
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

    /// Writes a timestamp; to other formats than documents, as RFC 3339 text in UTC with six digits
    /// of a second's fraction: `2026-03-01T12:30:00.250000Z`.
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
    /// The timestamp as RFC 3339 text in UTC; years beyond four digits carry a sign.
    package var rfc3339: String { InternetTime.text(ofMicroseconds: microseconds) }

    /// Reads RFC 3339 text; digits beyond the microsecond are dropped.
    package init?(rfc3339 text: String) {
        guard let microseconds = InternetTime.microseconds(of: text) else { return nil }
        self.init(microseconds: microseconds)
    }
}
