/// The kinds of value that are recognised by their form, whatever their name.
public struct RedactionPatterns: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// E-mail addresses, also with an encoded at sign (`%40`).
    public static let emailAddresses = Self(rawValue: 1 << 0)
    /// Numbers of payment cards: 13 to 19 digits whose check digit is right (ISO/IEC 7812-1), also
    /// percent-encoded.
    public static let paymentCards = Self(rawValue: 1 << 1)
    /// Bearer and Basic credentials, JSON Web Tokens (RFC 7519), keys with a known prefix, PEM
    /// private keys, and user information in URLs.
    public static let credentials = Self(rawValue: 1 << 2)
    /// IPv4 and IPv6 addresses.
    public static let ipAddresses = Self(rawValue: 1 << 3)
    /// International bank account numbers whose check digits are right (ISO 13616).
    public static let bankAccounts = Self(rawValue: 1 << 4)
    /// Telephone numbers that begin with a plus sign (E.164), also percent-encoded.
    ///
    /// Not in ``standard``: many other numbers look like them.
    public static let phoneNumbers = Self(rawValue: 1 << 5)

    /// All but telephone numbers.
    public static let standard: Self = [
        .emailAddresses, .paymentCards, .credentials, .ipAddresses, .bankAccounts,
    ]

    /// All of them.
    public static let all: Self = [.standard, .phoneNumbers]
}
