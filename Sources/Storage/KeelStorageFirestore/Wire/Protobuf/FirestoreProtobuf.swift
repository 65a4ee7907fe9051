internal import KeelCore

/// The binary form of Firestore's messages, converted from and to their JSON form.
///
/// The forms are those of protobuf.dev, "Encoding" and "ProtoJSON Format", for the messages of `google.firestore.v1`.
package enum FirestoreProtobuf {
    /// The nesting limit of messages: the default of Google's parsers.
    package static let deepest = 100

    /// Converts a message to JSON.
    ///
    /// The result has the fields that the message has; fields with their default value are usually absent. Unknown
    /// fields are skipped. Times are rounded down to the microsecond.
    ///
    /// - Parameters:
    ///   - bytes: The message.
    ///   - name: The name of the message's type, without `google.firestore.v1.`
    ///   - deepest: The nesting limit of messages.
    ///   - mostValues: The maximum number of values, because each takes memory even if it is short.
    /// - Returns: The message in JSON.
    /// - Throws: `FirestoreProtobufError`.
    package static func json(
        _ bytes: ArraySlice<UInt8>,
        of name: String,
        deepest: Int = FirestoreProtobuf.deepest,
        mostValues: Int = .max
    ) throws(FirestoreProtobufError) -> FirestoreJSON {
        guard let message = ProtobufSchema.firestore.message(named: name) else {
            throw FirestoreProtobufError(reason: .unknownType, message: name)
        }
        var decoder = ProtobufDecoder(valuesLeft: mostValues)
        return try decoder.object(bytes, message, levels: deepest)
    }

    /// Converts JSON to a message; `name` is that of its type, without the package `google.firestore.v1`.
    ///
    /// Members that the message does not have are omitted, and so are members that are null.
    package static func bytes(
        _ json: FirestoreJSON,
        of name: String
    ) throws(FirestoreProtobufError) -> [UInt8] {
        guard let message = ProtobufSchema.firestore.message(named: name) else {
            throw FirestoreProtobufError(reason: .unknownType, message: name)
        }
        var writer = ProtobufWriter()
        writer.reserveCapacity(256)
        try ProtobufEncoder.write(json, message, to: &writer)
        return writer.bytes
    }
}

package struct FirestoreProtobufError: Error, Hashable, CustomStringConvertible {
    package enum Reason: String, Sendable, Hashable {
        case malformed = "its bytes are not a message in protobuf"
        case badUTF8 = "a string is not valid UTF-8"
        case badTime = "a time or a duration is out of range"
        case badValue = "a value has the wrong form"
        case tooDeep = "messages are nested too deeply"
        case tooMany = "there are too many values"
        case unknownType = "the type of the message is unknown"
    }

    package let reason: Reason
    package let message: String
    package let field: String?

    package init(reason: Reason, message: String, field: String? = nil) {
        self.reason = reason
        self.message = message
        self.field = field
    }

    package var description: String {
        "in “\(message)\(field.map { ".\($0)" } ?? "")”, \(reason.rawValue)"
    }
}
