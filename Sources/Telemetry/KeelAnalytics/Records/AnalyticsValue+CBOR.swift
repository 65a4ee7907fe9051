internal import KeelCBOR

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension CBORWriter {
    /// Writes a value; a date has tag 1 (RFC 8949, section 3.4.2).
    mutating func write(_ value: AnalyticsValue) {
        switch value {
        case .null: null()
        case .boolean(let value): boolean(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .string(let value): text(value)
        case .date(let value):
            tag(1)
            double(value.timeIntervalSince1970)
        case .array(let values):
            arrayHeader(values.count)
            for value in values { write(value) }
        case .object(let values): write(values)
        }
    }

    mutating func write(_ values: [String: AnalyticsValue]) {
        mapHeader(values.count)
        for (name, value) in values {
            text(name)
            write(value)
        }
    }

    mutating func write(_ text: String?) {
        if let text { self.text(text) } else { null() }
    }
}

extension CBORReader {
    /// The maximum nesting of arrays and objects in a record.
    private static let depthLimit = 64

    mutating func readValue(depth: Int = 0) throws(CBORError) -> AnalyticsValue {
        guard depth < Self.depthLimit else { throw CBORError(.nestingTooDeep, at: position) }
        switch try peekKind() {
        case .null:
            try readNull()
            return .null
        case .boolean: return .boolean(try readBoolean())
        case .unsigned, .negative: return .integer(try readInteger())
        case .float: return .double(try readDouble())
        case .text: return .string(try readText())
        case .tag:
            guard try readTag() == 1 else { throw CBORError(.unsupported, at: position) }
            return .date(Date(timeIntervalSince1970: try readDouble()))
        case .array:
            guard let count = try readArrayHeader() else {
                throw CBORError(.unsupported, at: position)
            }
            var values: [AnalyticsValue] = []
            for _ in 0..<count { values.append(try readValue(depth: depth + 1)) }
            return .array(values)
        case .map: return .object(try readValues(depth: depth + 1))
        default: throw CBORError(.unsupported, at: position)
        }
    }

    mutating func readValues(depth: Int = 0) throws(CBORError) -> [String: AnalyticsValue] {
        guard let count = try readMapHeader() else { throw CBORError(.unsupported, at: position) }
        var values: [String: AnalyticsValue] = [:]
        for _ in 0..<count {
            let name = try readText()
            values[name] = try readValue(depth: depth)
        }
        return values
    }

    mutating func readTextIfPresent() throws(CBORError) -> String? {
        readNullIfPresent() ? nil : try readText()
    }
}
