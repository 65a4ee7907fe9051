import HTTPTypes
import KeelCBOR
import KeelCache

/// The CBOR encoding of an address's responses: an array of arrays.
enum StoredResponseCoding {
    static func encode(_ responses: [StoredResponse]) -> [UInt8] {
        var writer = CBORWriter(capacity: 512)
        writer.arrayHeader(responses.count)
        for response in responses { write(response, to: &writer) }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) -> [StoredResponse]? {
        var reader = CBORReader(bytes)
        do throws(CBORError) {
            guard let count = try reader.readArrayHeader() else { return nil }
            var responses: [StoredResponse] = []
            for _ in 0..<count {
                guard let response = try read(&reader) else { return nil }
                responses.append(response)
            }
            try reader.finish()
            return responses
        } catch {
            return nil
        }
    }

    private static let memberCount = 13

    private static func write(_ response: StoredResponse, to writer: inout CBORWriter) {
        writer.arrayHeader(memberCount)
        writer.integer(Int64(response.status.code))
        writer.text(response.status.reasonPhrase)
        writer.arrayHeader(response.fields.count * 2)
        for field in response.fields {
            writer.text(field.name.rawName)
            // The raw bytes, which need not be UTF-8.
            field.withUnsafeBytesOfValue { writer.byteString($0) }
        }
        writer.arrayHeader(response.selectors.count * 2)
        for selector in response.selectors {
            writer.text(selector.name)
            if let value = selector.value { writer.text(value) } else { writer.null() }
        }
        writer.integer(response.requested.microseconds)
        writer.integer(response.received.microseconds)
        writer.unsigned(response.body.high)
        writer.unsigned(response.body.low)
        writer.integer(Int64(response.length))
        writer.integer(response.part?.first ?? -1)
        writer.integer(response.part?.total ?? -1)
        writer.boolean(response.isOutdated)
        writer.arrayHeader(response.groups.count)
        for group in response.groups { writer.text(group) }
    }

    private static func read(_ reader: inout CBORReader) throws(CBORError) -> StoredResponse? {
        guard try reader.readArrayHeader() == memberCount,
            let code = Int(exactly: try reader.readInteger()), (0...999).contains(code)
        else { return nil }
        let reason = try reader.readText()
        guard let fields = try readFields(&reader), let selectors = try readSelectors(&reader)
        else { return nil }
        let requested = CacheInstant(microseconds: try reader.readInteger())
        let received = CacheInstant(microseconds: try reader.readInteger())
        let high = try reader.readUnsigned()
        let low = try reader.readUnsigned()
        let length = Int(exactly: try reader.readInteger())
        let first = try reader.readInteger()
        let total = try reader.readInteger()
        let isOutdated = try reader.readBoolean()
        guard let length, length >= 0, let groupCount = try reader.readArrayHeader() else {
            return nil
        }
        var groups: [String] = []
        for _ in 0..<groupCount { groups.append(try reader.readText()) }
        return StoredResponse(
            status: HTTPResponse.Status(code: code, reasonPhrase: reason),
            fields: fields,
            selectors: selectors,
            requested: requested,
            received: received,
            body: StoredResponse.BodyID(high: high, low: low),
            length: length,
            part: first < 0
                ? nil : StoredResponse.StoredPart(first: first, total: total < 0 ? nil : total),
            isOutdated: isOutdated,
            groups: groups
        )
    }

    private static func readFields(
        _ reader: inout CBORReader
    ) throws(CBORError) -> HTTPFields? {
        guard let count = try reader.readArrayHeader(), count % 2 == 0 else { return nil }
        var fields = HTTPFields()
        for _ in 0..<(count / 2) {
            guard let name = HTTPField.Name(try reader.readText()) else { return nil }
            fields.append(HTTPField(name: name, value: try reader.readByteString()))
        }
        return fields
    }

    private static func readSelectors(
        _ reader: inout CBORReader
    ) throws(CBORError) -> [StoredResponse.Selector]? {
        guard let count = try reader.readArrayHeader(), count % 2 == 0 else { return nil }
        var selectors: [StoredResponse.Selector] = []
        for _ in 0..<(count / 2) {
            let name = try reader.readText()
            let value = reader.readNullIfPresent() ? nil : try reader.readText()
            selectors.append(StoredResponse.Selector(name: name, value: value))
        }
        return selectors
    }
}
