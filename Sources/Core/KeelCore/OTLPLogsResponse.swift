/// A collector's JSON response to an OpenTelemetry request with log records.
package struct OTLPLogsResponse: Decodable, Sendable {
    private struct PartialSuccess: Decodable, Sendable {
        let rejectedLogRecords: Number?
    }

    /// A 64-bit number: a string in Protocol Buffers' JSON, but a number from some servers.
    private struct Number: Decodable, Sendable {
        let value: Int64?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                value = Int64(text)
            } else {
                value = try? container.decode(Int64.self)
            }
        }
    }

    private let partialSuccess: PartialSuccess?

    /// The number of refused records; 0 if it is unreadable.
    package var rejectedCount: Int {
        max(0, Int(clamping: partialSuccess?.rejectedLogRecords?.value ?? 0))
    }
}
