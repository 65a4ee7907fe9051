/// A transport that adds layers to the clients that use it.
///
/// The layers do what an app expects of a client but a transport must not do, such as decompression: a caller that uses
/// the transport without a client gets bodies as the server sent them.
package protocol LayeringTransport: Sendable {
    /// The layers, which a client puts below those of the app.
    var clientLayers: [any HTTPMiddleware] { get }
}
