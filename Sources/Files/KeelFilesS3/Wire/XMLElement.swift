/// An element of an XML document, limited to the elements and text that S3 uses.
struct XMLElement: Sendable {
    /// The name without its prefix.
    let name: String
    fileprivate(set) var text = ""
    fileprivate(set) var children: [XMLElement] = []

    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    func text(_ name: String) -> String? { self[name]?.text }

    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    /// Parses a document in UTF-8 of at most this depth and number of elements.
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
                        throw XMLFlaw("there is text outside the root")
                    }
                } else {
                    open[open.count - 1].text += text
                }
            case .end(let name):
                guard let element = open.popLast(), element.name == name else {
                    throw XMLFlaw("“\(name)” is closed but was not opened")
                }
                if open.isEmpty {
                    root = element
                } else {
                    open[open.count - 1].children.append(element)
                }
            }
        }
        guard let root, open.isEmpty else { throw XMLFlaw("it is truncated") }
        self = root
    }

    private init(name: String) { self.name = name }
}

struct XMLFlaw: Error, Hashable, Sendable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
