/// The text in the place of a value that was taken out.
public struct RedactionMarker: Sendable {
    private let text: @Sendable (_ secret: [UInt8]) -> String

    private init(text: @escaping @Sendable ([UInt8]) -> String) { self.text = text }

    /// The word `<redacted>`.
    public static let standard = RedactionMarker.fixed("<redacted>")

    /// The same text for every value.
    public static func fixed(_ text: String) -> RedactionMarker { RedactionMarker { _ in text } }

    /// A text that is the same for the same value, so that two log lines can be brought together.
    ///
    /// The closure gets the bytes of the value and returns a short label, which is shown as
    /// `<redacted:label>`. It must use a keyed hash, such as HMAC with a key that does not leave
    /// the process: e-mail addresses and card numbers are few enough to find by trying them all
    /// against a plain hash.
    public static func correlated(
        by label: @escaping @Sendable (_ secret: [UInt8]) -> String
    ) -> RedactionMarker {
        RedactionMarker { secret in "<redacted:\(label(secret))>" }
    }

    /// A text that is computed from the bytes of the value.
    package static func computed(_ text: @escaping @Sendable ([UInt8]) -> String) -> RedactionMarker
    {
        RedactionMarker(text: text)
    }

    /// The text in the place of a value.
    public func replacement(for secret: some Sequence<UInt8>) -> String { text(Array(secret)) }

    /// The text in the place of a value inside a URL: its letters, digits and hyphens only.
    package func urlReplacement(for secret: some Sequence<UInt8>) -> String {
        let bytes = replacement(for: secret).utf8.filter {
            $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
