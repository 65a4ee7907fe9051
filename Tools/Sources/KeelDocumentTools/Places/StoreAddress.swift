#if PostgreSQL
internal import Foundation

/// A URL of a database in which the parameter `store`, which libpq does not know, may name the store.
package struct StoreAddress {
    /// The URL for libpq.
    package let url: String
    /// The name of the store; `default` if the URL names none.
    package let store: String

    /// Reads a URL.
    package init(_ text: String) {
        let mark = text.lastIndex(of: "?") ?? text.endIndex
        let items = text[mark...].dropFirst().split(separator: "&")
        let rest = items.filter { !$0.hasPrefix("store=") }
        guard rest.count < items.count else {
            (url, store) = (text, "default")
            return
        }
        url = String(text[..<mark]) + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
        let name = items.last { $0.hasPrefix("store=") }?.dropFirst("store=".count) ?? ""
        store = String(name).removingPercentEncoding ?? String(name)
    }
}
#endif
