/// What Keel's own coders found wrong, carried inside the `EncodingError` or `DecodingError`.
///
/// Swift's two error types go through the hands of `Codable` conformances, which may look at them;
/// this tells Keel's words from anyone else's, which could quote a value.
struct CodingFlaw: Error, Sendable, CustomStringConvertible {
    let code: StorageError.Code
    /// Kinds and rules only, never a value.
    let words: String

    var description: String { words }
}

/// A step of a coding path.
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

    /// The place of an element in an array.
    init(index: Int) { self.init(intValue: index) }

    /// The key of the superclass's own container.
    static let inherited = DocumentCodingKey(stringValue: "super")
}

extension StorageError {
    /// Turns what an `encode(to:)` threw into an error of storage.
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
        let words = flaw?.words ?? "its Encodable conformance refused a value"
        // Swift keeps the refused value in the error; only its type may leave this place.
        let refused = value as? Any.Type ?? Swift.type(of: value)
        self.init(
            flaw?.code ?? .encodingFailed,
            "\(Self.place(context.codingPath, of: type)): \(words)",
            cause: EncodingError.invalidValue(refused, context)
        )
    }

    /// Turns what an `init(from:)` threw into an error of storage.
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
            words = flaw?.words ?? "it is no \(Self.name(wanted))"
        case .dataCorrupted(let context):
            let flaw = context.underlyingError as? CodingFlaw
            code = flaw?.code ?? .decodingFailed
            path = context.codingPath
            words = flaw?.words ?? "its Decodable conformance refused the value"
        @unknown default:
            (code, path, words) = (.decodingFailed, [], "it cannot be decoded")
        }
        self.init(
            code,
            "\(Self.place(path, of: type)): \(words)",
            cause: Self.withoutValue(decoding)
        )
    }

    /// The field in words: “address.city”, “grades[2].score”.
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

    /// The standard library quotes the raw value that an enumeration refused.
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
