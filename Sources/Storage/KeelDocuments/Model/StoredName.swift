/// Comparison and validation of ids, collection names and field names.
///
/// Names are compared by their UTF-8 bytes, unlike with `==` of strings, to which two spellings of “é” are equal.
package enum StoredName {
    package static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.utf8.elementsEqual(right.utf8)
    }

    package static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The maximum length of an id, collection name or field name, in UTF-8 bytes.
    package static let longest = 1_500

    /// Returns whether a name has the reserved form `__…__`.
    package static func isReserved(_ name: String) -> Bool {
        let name = name.utf8
        return name.count >= 4 && name.starts(with: "__".utf8)
            && name.suffix(2).elementsEqual("__".utf8)
    }

    /// Returns the nonempty segments of a path.
    package static func segments(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Returns the error in an id or collection name; nil if it is valid.
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
