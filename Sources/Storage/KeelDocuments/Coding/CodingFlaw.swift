/// The underlying error of Keel's own `EncodingError` or `DecodingError`; messages of others could quote a value.
struct CodingFlaw: Error, Sendable, CustomStringConvertible {
    let code: StorageError.Code
    /// Names kinds and rules, never values.
    let words: String

    var description: String { words }
}

/// One step of a coding path.
struct DocumentCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    init(index: Int) { self.init(intValue: index) }

    static let inherited = DocumentCodingKey(stringValue: "super")
}

extension StorageError {
    init(encoding type: Any.Type, _ error: any Error) {
        if let error = error as? StorageError {
            self = error
            return
        }
        guard case EncodingError.invalidValue(let value, let context) = error else {
            self.init(.encodingFailed, "encoding \(Self.name(type)) threw an error", cause: error)
            return
        }
        let flaw = context.underlyingError as? CodingFlaw
        let words = flaw?.words ?? "its Encodable conformance rejected a value"
        // `EncodingError` holds the rejected value; only its type may be exposed.
        let refused = value as? Any.Type ?? Swift.type(of: value)
        self.init(
            flaw?.code ?? .encodingFailed,
            "\(Self.place(context.codingPath, of: type)): \(words)",
            cause: EncodingError.invalidValue(refused, context)
        )
    }

    init(decoding type: Any.Type, _ error: any Error) {
        if let error = error as? StorageError {
            self = error
            return
        }
        guard let decoding = error as? DecodingError else {
            self.init(.decodingFailed, "decoding \(Self.name(type)) threw an error", cause: error)
            return
        }
        let code: Code
        let words: String
        let path: [any CodingKey]
        switch decoding {
        case .keyNotFound(let key, let context):
            (code, path, words) = (.decodingFailed, context.codingPath + [key], "it is missing")
        case .typeMismatch(let wanted, let context), .valueNotFound(let wanted, let context):
            let flaw = context.underlyingError as? CodingFlaw
            code = flaw?.code ?? .decodingFailed
            path = context.codingPath
            words = flaw?.words ?? "it is not a valid \(Self.name(wanted))"
        case .dataCorrupted(let context):
            let flaw = context.underlyingError as? CodingFlaw
            code = flaw?.code ?? .decodingFailed
            path = context.codingPath
            words = flaw?.words ?? "its Decodable conformance rejected the value"
        @unknown default:
            (code, path, words) = (.decodingFailed, [], "it cannot be decoded")
        }
        self.init(
            code,
            "\(Self.place(path, of: type)): \(words)",
            cause: Self.withoutValue(decoding)
        )
    }

    /// Returns a description of the field: “address.city”, “grades[2].score”.
    private static func place(_ path: [any CodingKey], of type: Any.Type) -> String {
        guard !path.isEmpty else { return "the whole of \(name(type))" }
        var text = ""
        for key in path {
            if let index = key.intValue, key.stringValue.hasPrefix("Index ") {
                text += "[\(index)]"
            } else {
                let step = FieldPath(names: [key.stringValue]).description
                text += text.isEmpty ? step : "." + step
            }
        }
        return "the field “\(text)” of \(name(type))"
    }

    private static func name(_ type: Any.Type) -> String { String(describing: type) }

    /// Removes the raw value of an enumeration, which the standard library quotes.
    private static func withoutValue(_ error: DecodingError) -> DecodingError {
        guard case .dataCorrupted(let context) = error,
            context.debugDescription.hasPrefix("Cannot initialize ")
        else { return error }
        return .dataCorrupted(
            DecodingError.Context(
                codingPath: context.codingPath,
                debugDescription: "no case has this raw value",
                underlyingError: context.underlyingError
            )
        )
    }
}
