import ArgumentParser
import KeelLint
