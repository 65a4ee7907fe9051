/// A part of an app, such as its windows.
@MainActor
@preconcurrency
public protocol Scene {
    associatedtype Body: Scene

    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

/// Puts scenes together; here an app has one.
@MainActor
@preconcurrency
@resultBuilder
public struct SceneBuilder: Sendable {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

public struct WindowGroup<Content: View>: Scene {
    let content: Content

    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    public var body: Never { preconditionFailure("Windows are shown, and have no body.") }
}

extension WindowGroup: Window {
    func show(in outline: Outline) { outline.show(content) }
}

/// A scene that the stand-in itself knows how to show.
@MainActor
protocol Window {
    func show(in outline: Outline)
}

@MainActor
@preconcurrency
public protocol App {
    associatedtype Body: Scene

    @SceneBuilder var body: Body { get }

    init()
}

extension App {
    /// Makes the app and its windows.
    ///
    /// Nothing shows them here, so that the call returns at once.
    public static func main() { _ = Outline(of: Self()) }
}

extension Outline {
    /// Shows what is in the windows of an app.
    public convenience init(of app: some App) {
        self.init { outline in
            (app.body as? any Window)?.show(in: outline)
        }
    }
}
