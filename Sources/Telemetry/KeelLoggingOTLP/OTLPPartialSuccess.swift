#if Logging

internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The number of records refused in a collector's response with status 200.
enum OTLPPartialSuccess {
    /// Reads the number of refused records in a response; one that fails or exceeds the deadline refuses nothing.
    ///
    /// `isJSON` is whether a response without a content type is JSON.
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

    /// Parses an `ExportLogsServiceResponse`; an unreadable one counts as refusing nothing.
    static func rejected(_ body: [UInt8], isJSON: Bool) -> Int {
        guard isJSON else { return max(0, Int(clamping: fromProtobuf(body) ?? 0)) }
        let response = try? JSONDecoder().decode(OTLPLogsResponse.self, from: Data(body))
        return response?.rejectedCount ?? 0
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
}

#endif
