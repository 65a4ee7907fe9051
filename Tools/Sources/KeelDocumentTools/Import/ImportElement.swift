/// A line of a file, or an element of its array.
package struct ImportElement: Sendable {
    /// The number of the line, or the position in the array, starting at 1.
    package let number: Int
    /// The range in the file in bytes.
    package let range: Range<Int>
    /// The text without surrounding white space; empty if ``flaw`` is set.
    package let text: [UInt8]
    /// The reason why the text cannot be read; nil for a readable element.
    package let flaw: String?
}
