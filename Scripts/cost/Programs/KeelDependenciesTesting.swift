import KeelDependencies
import KeelDependenciesTesting
import Testing

@Suite(.dependencies { _ in })
struct Empty {}

print(Empty.self)
