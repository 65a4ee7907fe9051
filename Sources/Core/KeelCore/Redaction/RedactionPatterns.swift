/// The kinds of values that are recognized by their form, regardless of their name.
public struct RedactionPatterns: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Email addresses, including those with an encoded at sign (`%40`).
    public static let emailAddresses = Self(rawValue: 1 << 0)
    /// Payment card numbers: 13 to 19 digits with a valid check digit (ISO/IEC 7812-1), including percent-encoded ones.
    public static let paymentCards = Self(rawValue: 1 << 1)
    /// Bearer and Basic credentials, JSON Web Tokens (RFC 7519), keys with a known prefix, PEM private keys, and user
    /// information in URLs.
    public static let credentials = Self(rawValue: 1 << 2)
    /// IPv4 and IPv6 addresses.
    public static let ipAddresses = Self(rawValue: 1 << 3)
    /// International bank account numbers with valid check digits (ISO 13616).
    public static let bankAccounts = Self(rawValue: 1 << 4)
    /// Telephone numbers that begin with a plus sign (E.164), including percent-encoded ones.
    ///
    /// They are not in ``standard``, because many other numbers look like them.
    public static let phoneNumbers = Self(rawValue: 1 << 5)

    /// All patterns except telephone numbers.
    public static let standard: Self = [
        .emailAddresses, .paymentCards, .credentials, .ipAddresses, .bankAccounts,
    ]

    /// All patterns.
    public static let all: Self = [.standard, .phoneNumbers]
}
