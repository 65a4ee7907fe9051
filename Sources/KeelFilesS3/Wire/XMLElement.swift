/// An element of an XML document, of the few things that S3 writes: elements and text.
struct XMLElement: Sendable {
    /// The name without its prefix.
    let name: String
    /// The text directly in it, all of it together.
    fileprivate(set) var text = ""
    /// The elements in it, in their order.
    fileprivate(set) var children: [XMLElement] = []

    /// The first element in it with a name.
    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// The text of the first element in it with a name.
    func text(_ name: String) -> String? { self[name]?.text }

    /// All elements in it with a name.
    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The document, in UTF-8.
    ///   - deepest: How many elements may be one in the other.
    ///   - most: How many elements there may be.
    /// - Throws: ``XMLFlaw``.
    init(
        parsing bytes: [UInt8],
        deepest: Int = 16,
        most: Int = 20_000
    ) throws(XMLFlaw) {
        var reader = XMLReader(bytes)
        var open: [XMLElement] = []
        var count = 0
        var root: XMLElement?
        while let event = try reader.next() {
            switch event {
            case .start(let name):
                count += 1
                guard root == nil else { throw XMLFlaw("there is a second root") }
                guard open.count < deepest, count <= most else { throw XMLFlaw("it is too large") }
                open.append(XMLElement(name: name))
            case .text(let text):
                if open.isEmpty {
                    guard text.allSatisfy(\.isWhitespace) else {
                        throw XMLFlaw("there is text outside of the root")
                    }
                } else {
                    open[open.count - 1].text += text
                }
            case .end(let name):
                guard let element = open.popLast(), element.name == name else {
                    throw XMLFlaw("“\(name)” ends without having begun")
                }
                if open.isEmpty {
                    root = element
                } else {
                    open[open.count - 1].children.append(element)
                }
            }
        }
        guard let root, open.isEmpty else { throw XMLFlaw("it ends too early") }
        self = root
    }

    private init(name: String) { self.name = name }
}

/// Why a document cannot be read.
struct XMLFlaw: Error, Hashable, Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
