/// An error of a benchmark that did not do its intended work, so that its figure would be meaningless.
struct Flaw: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
