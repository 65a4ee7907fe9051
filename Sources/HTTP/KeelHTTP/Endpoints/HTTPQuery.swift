import KeelCore

/// The query of a request: ordered names and values, encoded when the request is built.
///
/// ```swift
/// // A city that is nil is left out.
/// var query: HTTPQuery { ["q": text, "page": "\(page)", "near": city] }
/// ```
public struct HTTPQuery: Sendable, Hashable {
    /// One name with its value.
    public struct Item: Sendable, Hashable {
        /// The name, not encoded.
        public var name: String
        /// The value, not encoded.
        public var value: String

        /// Creates an item.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The items in the order in which they are sent; a name can occur more than once.
    public var items: [Item]

    /// Creates a query.
    public init(_ items: [Item] = []) {
        self.items = items
    }

    /// Appends an item; a nil value appends nothing.
    public mutating func append(_ name: String, _ value: (some LosslessStringConvertible)?) {
        guard let value else { return }
        items.append(Item(name: name, value: value.description))
    }

    /// The query as sent, without a question mark; empty if there are no items.
    ///
    /// Everything but unreserved characters is percent-encoded, also a space (`%20`) and a plus sign (`%2B`), so that
    /// RFC 3986 and HTML forms agree on the meaning.
    public var encoded: String {
        guard !items.isEmpty else { return "" }
        return items.map {
            "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))"
        }
        .joined(separator: "&")
    }
}

extension HTTPQuery: ExpressibleByDictionaryLiteral {
    /// Creates a query from names and values; items with a nil value are omitted.
    public init(dictionaryLiteral elements: (String, String?)...) {
        items = elements.compactMap { name, value in value.map { Item(name: name, value: $0) } }
    }
}
