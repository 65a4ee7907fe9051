/// A benchmark that did not do what it was to do; its figure would mean nothing.
struct Flaw: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
