/// One line of a file, or one element of its array.
package struct ImportElement: Sendable {
    /// The line, or the element's position in the array; the first is 1.
    package let number: Int
    /// Where it is in the file, in bytes.
    package let range: Range<Int>
    /// Its text without the space around it; empty if ``flaw`` is set.
    package let text: [UInt8]
    /// Why there is no text.
    package let flaw: String?
}
