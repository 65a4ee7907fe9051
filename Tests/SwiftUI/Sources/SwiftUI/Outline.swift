internal import Observation

/// The contents and the controls of a view: the stand-in's screen.
@MainActor
public final class Outline {
    /// The texts in order, including those of buttons and titles.
    public private(set) var texts: [String] = []
    /// The names of the system images.
    public private(set) var images: [String] = []
    /// The actions of the buttons, by title.
    public private(set) var buttons: [String: @MainActor () -> Void] = [:]
    /// The titles of disabled buttons.
    public private(set) var disabledButtons: Set<String> = []
    /// The bindings of text fields, by title.
    public private(set) var fields: [String: Binding<String>] = [:]
    /// The bindings of pickers, by title: a choice is the tag of one of its views.
    public private(set) var pickers: [String: @MainActor (AnyHashable) -> Void] = [:]
    /// The tasks that start when the view appears.
    public private(set) var tasks: [@MainActor () async -> Void] = []
    /// The action of pulling the list down.
    public private(set) var refreshes: [@MainActor () async -> Void] = []
    /// The actions after changes of observed values; nothing here notices the change itself.
    public private(set) var reactions: [@MainActor () -> Void] = []
    /// The destinations of the rows.
    public private(set) var links: [AnyHashable] = []
    /// The number of progress indicators.
    public private(set) var indicators = 0

    private var destinations: [@MainActor (AnyHashable) -> (any View)?] = []
    private var isDisabled = false
    private let changes: AsyncStream<Void>

    /// Renders a view, and records when its inputs change, as SwiftUI does.
    public convenience init(of view: some View) { self.init { $0.show(view) } }

    init(showing: @MainActor (Outline) -> Void) {
        let (changes, teller) = AsyncStream.makeStream(of: Void.self)
        self.changes = changes
        withObservationTracking {
            showing(self)
        } onChange: {
            teller.yield()
            teller.finish()
        }
    }

    /// Waits until a rendered value has changed.
    public func waitForChange() async {
        for await _ in changes { return }
    }

    /// Returns the destination of a link.
    public func destination(of link: AnyHashable) -> (any View)? {
        destinations.lazy.compactMap { $0(link) }.first
    }

    // MARK: For views

    func show(_ view: some View) {
        if let known = view as? any BuiltIn {
            known.show(in: self)
        } else {
            for child in Mirror(reflecting: view).children {
                if var property = child.value as? any DynamicProperty { property.update() }
            }
            show(view.body)
        }
    }

    func text(_ text: String) { texts.append(text) }
    func image(_ name: String) { images.append(name) }
    func indicator() { indicators += 1 }
    func task(_ action: @escaping @MainActor () async -> Void) { tasks.append(action) }
    func refresh(_ action: @escaping @MainActor () async -> Void) { refreshes.append(action) }
    func reaction(_ action: @escaping @MainActor () -> Void) { reactions.append(action) }
    func link(to value: AnyHashable) { links.append(value) }

    func destination(_ make: @escaping @MainActor (AnyHashable) -> (any View)?) {
        destinations.append(make)
    }

    func field(_ title: String, _ text: Binding<String>) {
        texts.append(title)
        fields[title] = text
    }

    func picker(_ title: String, _ choose: @escaping @MainActor (AnyHashable) -> Void) {
        pickers[title] = choose
    }

    /// Records a button; its title is the texts of its label, or else the names of its images.
    func button(_ label: some View, _ action: @escaping @MainActor () -> Void) {
        let (textCount, imageCount) = (texts.count, images.count)
        show(label)
        let title =
            (texts[textCount...] + images[imageCount...].prefix(texts.count > textCount ? 0 : 1))
            .joined(separator: " ")
        buttons[title] = action
        if isDisabled { disabledButtons.insert(title) }
    }

    func disabled(_ isDisabled: Bool, _ content: some View) {
        let before = self.isDisabled
        self.isDisabled = before || isDisabled
        show(content)
        self.isDisabled = before
    }
}
