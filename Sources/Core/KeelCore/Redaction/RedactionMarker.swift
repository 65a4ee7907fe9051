/// The text that replaces a removed value.
public struct RedactionMarker: Sendable {
    private let text: @Sendable (_ secret: [UInt8]) -> String

    private init(text: @escaping @Sendable ([UInt8]) -> String) { self.text = text }

    /// The text `<redacted>`.
    public static let standard = RedactionMarker.fixed("<redacted>")

    /// Returns a marker with the same text for every value.
    public static func fixed(_ text: String) -> RedactionMarker { RedactionMarker { _ in text } }

    /// Returns a marker with the same text for equal values, so that log lines can be correlated.
    ///
    /// The closure receives the bytes of the value and returns a short label, which is shown as `<redacted:label>`. It
    /// must use a keyed hash, such as HMAC with a key that does not leave the process: email addresses and card numbers
    /// are few enough to reverse a plain hash by trying all of them.
    public static func correlated(
        by label: @escaping @Sendable (_ secret: [UInt8]) -> String
    ) -> RedactionMarker {
        RedactionMarker { secret in "<redacted:\(label(secret))>" }
    }

    /// Returns a marker whose text is computed from the bytes of the value.
    package static func computed(_ text: @escaping @Sendable ([UInt8]) -> String) -> RedactionMarker
    {
        RedactionMarker(text: text)
    }

    /// Returns the text that replaces a value.
    public func replacement(for secret: some Sequence<UInt8>) -> String { text(Array(secret)) }

    /// Returns the text that replaces a value inside a URL, reduced to letters, digits and hyphens.
    package func urlReplacement(for secret: some Sequence<UInt8>) -> String {
        let bytes = replacement(for: secret).utf8.filter {
            $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
