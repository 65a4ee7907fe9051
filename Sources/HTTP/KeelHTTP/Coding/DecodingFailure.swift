import KeelCore

/// A readable explanation of a decoding error: the place in the text and the expectation, without any value.
package struct DecodingFailure {
    package let explanation: String

    /// Explains the error of a decoder, omitting the first `count` steps of its coding path.
    package init(_ error: any Error, droppingFirst count: Int = 0) {
        func place(_ path: [any CodingKey]) -> String {
            let steps = path.dropFirst(count).map { key in
                key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
            }
            return steps.isEmpty ? "the top level" : "'\(steps.joined().drop { $0 == "." })'"
        }
        func name(_ type: any Any.Type) -> String {
            "\((type as? any DecodingStandIn.Type)?.original ?? type)"
        }
        explanation =
            switch error {
            case DecodingError.keyNotFound(let key, let context):
                "The response has no value for \(place(context.codingPath + [key]))."
            case DecodingError.valueNotFound(let type, let context):
                "The response has null at \(place(context.codingPath)), not a \(name(type))."
            case DecodingError.typeMismatch(let type, let context):
                "The response has a value of the wrong type at \(place(context.codingPath)), "
                    + "not a \(name(type))."
            case DecodingError.dataCorrupted(let context):
                "The response could not be read at \(place(context.codingPath))."
            default:
                NetworkError.Code.decoding.summary
            }
    }
}
