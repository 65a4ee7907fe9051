#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DocumentValue: Codable {
    /// The members of a value in Firestore's REST protocol.
    private enum Kind: String, CodingKey, CaseIterable {
        case nullValue, booleanValue, integerValue, doubleValue, timestampValue, stringValue
        case bytesValue, referenceValue, geoPointValue, arrayValue, mapValue
    }

    private struct Elements: Codable {
        var values: [DocumentValue]?
    }

    private struct Members: Codable {
        var fields: DocumentFields?
    }

    /// Decodes any value of a document; from other formats, the form that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        if let reader = try decoder.singleValueContainer() as? ValueReader {
            self = try reader.decode(DocumentValue.self)
            return
        }
        let container = try decoder.container(keyedBy: Kind.self)
        guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected one of \(Kind.allCases.map(\.rawValue))"
                )
            )
        }
        switch kind {
        case .nullValue: self = .null
        case .booleanValue: self = .boolean(try container.decode(Bool.self, forKey: kind))
        case .integerValue:
            let text = try container.decode(String.self, forKey: kind)
            guard let integer = Int64(text) else {
                throw Self.flaw("a decimal integer", kind, container)
            }
            self = .integer(integer)
        case .doubleValue:
            if let number = try? container.decode(Double.self, forKey: kind) {
                self = .double(number)
            } else {
                let text = try container.decode(String.self, forKey: kind)
                guard let number = Self.unusual[text] else {
                    throw Self.flaw("a number, NaN, Infinity or -Infinity", kind, container)
                }
                self = .double(number)
            }
        case .timestampValue: self = .timestamp(try container.decode(Timestamp.self, forKey: kind))
        case .stringValue: self = .string(try container.decode(String.self, forKey: kind))
        case .bytesValue:
            let text = try container.decode(String.self, forKey: kind)
            guard let data = Data(base64Encoded: text) else {
                throw Self.flaw("base64", kind, container)
            }
            self = .bytes(Array(data))
        case .referenceValue:
            self = .reference(try container.decode(DocumentPath.self, forKey: kind))
        case .geoPointValue: self = .geopoint(try container.decode(GeoPoint.self, forKey: kind))
        case .arrayValue:
            self = .array(try container.decode(Elements.self, forKey: kind).values ?? [])
        case .mapValue:
            let fields = try container.decode(Members.self, forKey: kind).fields ?? [:]
            self = DocumentValue(wireFields: fields)
        }
    }

    /// Encodes the value itself in a document; in other formats, the JSON form of Firestore's REST protocol.
    ///
    /// It is `{"integerValue": "3"}`, `{"timestampValue": "2026-03-01T12:30:00.250000Z"}`,
    /// `{"arrayValue": {"values": […]}}`, `{"mapValue": {"fields": {…}}}`, and so on. Integers are strings, as are the
    /// doubles `NaN`, `Infinity`, `-Infinity` and `-0`; bytes are base64; a reference is its path; a vector is a map
    /// whose `__type__` is `__vector__`, with an array of doubles as `value`.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            try frame.encodeWhole(self)
            return
        }
        var container = encoder.container(keyedBy: Kind.self)
        switch self {
        case .null: try container.encodeNil(forKey: .nullValue)
        case .boolean(let value): try container.encode(value, forKey: .booleanValue)
        case .integer(let value): try container.encode(String(value), forKey: .integerValue)
        case .double(let value):
            if let text = Self.unusualText(value) {
                try container.encode(text, forKey: .doubleValue)
            } else {
                try container.encode(value, forKey: .doubleValue)
            }
        case .timestamp(let value): try container.encode(value, forKey: .timestampValue)
        case .string(let value): try container.encode(value, forKey: .stringValue)
        case .bytes(let value):
            try container.encode(Data(value).base64EncodedString(), forKey: .bytesValue)
        case .reference(let path): try container.encode(path, forKey: .referenceValue)
        case .geopoint(let point): try container.encode(point, forKey: .geoPointValue)
        case .array(let values):
            try container.encode(Elements(values: values), forKey: .arrayValue)
        case .vector(let vector):
            try container.encode(Members(fields: vector.wireFields), forKey: .mapValue)
        case .map(let fields): try container.encode(Members(fields: fields), forKey: .mapValue)
        }
    }

    private static let unusual: [String: Double] = [
        "NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity, "-0": -0.0,
    ]

    private static func unusualText(_ number: Double) -> String? {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        return number == 0 && number.sign == .minus ? "-0" : nil
    }

    private static func flaw(
        _ expected: String,
        _ key: Kind,
        _ container: KeyedDecodingContainer<Kind>
    ) -> DecodingError {
        .dataCorruptedError(
            forKey: key,
            in: container,
            debugDescription: "expected \(expected)"
        )
    }
}

extension DocumentFields: Codable {
    /// Decodes a map; from other formats, an object of values in the form of ``DocumentValue``.
    public init(from decoder: any Decoder) throws {
        if let reader = try decoder.singleValueContainer() as? ValueReader {
            self = try reader.decode(DocumentFields.self)
            return
        }
        let container = try decoder.container(keyedBy: DocumentCodingKey.self)
        self.init()
        for key in container.allKeys {
            self[key.stringValue] = try container.decode(DocumentValue.self, forKey: key)
        }
    }

    /// Encodes a map; in other formats, an object of values in the form of ``DocumentValue``.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            try frame.encodeWhole(self)
            return
        }
        var container = encoder.container(keyedBy: DocumentCodingKey.self)
        for field in self {
            try container.encode(field.value, forKey: DocumentCodingKey(stringValue: field.name))
        }
    }
}

extension VectorValue: Codable {
    /// Decodes a vector; from other formats, an array of numbers.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let reader = container as? ValueReader {
            self = try reader.decode(VectorValue.self)
            return
        }
        self.init(try container.decode([Double].self))
    }

    /// Encodes a vector; in other formats, an array of numbers.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            try frame.encodeWhole(self)
            return
        }
        var container = encoder.singleValueContainer()
        try container.encode(elements)
    }
}

extension DocumentPath: Codable {
    /// Decodes a reference; from other formats, the path as a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let reader = container as? ValueReader {
            self = try reader.decode(DocumentPath.self)
            return
        }
        self.init(try container.decode(String.self))
        if let flaw {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: flaw)
        }
    }

    /// Encodes a reference; in other formats, the path as a string.
    public func encode(to encoder: any Encoder) throws {
        if let frame = encoder as? EncodingFrame {
            try frame.encodeWhole(self)
            return
        }
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}
