/// Compares and checks the names of the data model: ids, collection names, field names.
///
/// Names are compared by their UTF-8 bytes. Swift's `==` on strings treats "é" written as one
/// scalar or as two as the same, databases do not; a store that did could lose one of two
/// documents when it moves to another backend.
package enum StoredName {
    /// Whether two names have the same bytes.
    package static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    /// Whether `left` comes before `right` in the order of their UTF-8 bytes.
    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The longest id, collection name or field name, in bytes of UTF-8.
    package static let longest = 1_500

    /// Whether the name is of the form `__…__`, which is kept for Keel's own records.
    package static func isReserved(_ name: String) -> Bool {
        name.utf8.count >= 4 && name.hasPrefix("__") && name.hasSuffix("__")
    }

    /// Returns what is wrong with an id or collection name, or nil.
    package static func flaw(inSegment name: String, allowingReserved: Bool = false) -> String? {
        if name.isEmpty { return "is empty" }
        if name.utf8.count > longest { return "is longer than \(longest) bytes" }
        if name.utf8.contains(UInt8(ascii: "/")) {
            return "contains a “/”; encode it, for example as %2F"
        }
        if name == "." || name == ".." { return "is “.” or “..”" }
        if !allowingReserved, isReserved(name) { return "has the reserved form “__…__”" }
        return nil
    }
}
