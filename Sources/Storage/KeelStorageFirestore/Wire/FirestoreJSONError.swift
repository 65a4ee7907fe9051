/// An error in JSON text.
package struct FirestoreJSONError: Error, Hashable, CustomStringConvertible {
    /// The kinds of fault.
    package enum Reason: String, Sendable, Hashable {
        case unexpectedEnd = "the text ends too early"
        case unexpectedByte = "there is a character that JSON does not allow here"
        case badUTF8 = "a string is not valid UTF-8"
        case badEscape = "an escape sequence in a string is not one of JSON's"
        case badNumber = "a number is not of JSON's form, or is too large for a double"
        case tooDeep = "arrays and objects are nested too deeply"
        case tooMany = "there are too many values"
        case trailingBytes = "something follows the value"
    }

    /// The kind of fault.
    package let reason: Reason
    /// The offset of the fault, in bytes.
    package let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    package var description: String { "\(reason.rawValue), at byte \(offset)" }
}
