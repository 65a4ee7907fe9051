#if Logging

internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How many records of a request a collector has refused for good, in its answer with status 200.
enum OTLPPartialSuccess {
    /// Reads an answer; one that breaks off or does not end in time refuses nothing.
    ///
    /// - Parameters:
    ///   - reply: The answer.
    ///   - isJSON: Whether it is JSON where it does not say what it is.
    ///   - deadline: When reading ends.
    /// - Returns: How many records were refused.
    static func rejected(
        _ reply: HTTPReply,
        isJSON: Bool,
        _ deadline: Deadline
    ) async -> Int {
        let bytes = try? await deadline.run(throwing: TransportError(.responseTimeout)) {
            () async throws(TransportError) in
            try await reply.body.collect(upTo: 1 << 20)
        }
        let type = reply.head.headerFields[.contentType]?.lowercased()
        return rejected(bytes ?? [], isJSON: type?.hasPrefix("application/json") ?? isJSON)
    }

    /// Reads an `ExportLogsServiceResponse`; one that cannot be read refuses nothing.
    static func rejected(_ body: [UInt8], isJSON: Bool) -> Int {
        let count = isJSON ? fromJSON(body) : fromProtobuf(body)
        return max(0, Int(clamping: count ?? 0))
    }

    private static func fromProtobuf(_ body: [UInt8]) -> Int64? {
        var response = ProtobufReader(body[...])
        while let (field, value) = response.next() {
            guard field == OTLPFields.Response.partialSuccess, case .data(let data) = value else {
                continue
            }
            var partial = ProtobufReader(data)
            while let (field, value) = partial.next() {
                if field == OTLPFields.PartialSuccess.rejectedLogRecords,
                    case .varint(let count) = value
                {
                    return Int64(bitPattern: count)
                }
            }
        }
        return nil
    }

    private struct Response: Decodable {
        struct Partial: Decodable {
            let rejectedLogRecords: Number?
        }

        let partialSuccess: Partial?
    }

    /// A 64-bit number, which the JSON of Protocol Buffers has as a text, and some servers do not.
    private struct Number: Decodable {
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

    private static func fromJSON(_ body: [UInt8]) -> Int64? {
        let response = try? JSONDecoder().decode(Response.self, from: Data(body))
        return response?.partialSuccess?.rejectedLogRecords?.value
    }
}

#endif
