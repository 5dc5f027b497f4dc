'use strict'
// The page of s:html: steps on the left, on the right the program after one step, its difference to another, its graph,
// or the source. Data (viewer.lua): lines [text, [from, to, type, ..], source, line] shared by stages as their numbers.
const data = JSON.parse(document.getElementById('data').textContent)
const $ = id => document.getElementById(id)
const state = { stage: data.stages.length - 1, against: data.stages.length - 2, tab: 'program', beside: false,
  here: null }
const colours = new Map()
const palette = ['#ffd166', '#8ecae6', '#b8e0a8', '#f4a6b8', '#cdb4f6', '#ffb38a', '#9be3d2', '#e0d36b']
const keywords = new Set(('and break do else elseif end false for function goto if in local nil not or repeat return ' +
  'then true until while').split(' '))
const types = /^([iu](8|16|32|64)|bf16|f16|f32|f64|bool|index)$/
const pieces = /--@.*|--.*|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|\s+|./g

// A new element with attributes and children.
function element(name, attributes, ...children) {
  const e = document.createElement(name)
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value)
  e.append(...children.filter(c => c !== null))
  return e
}

// The class of a piece of Lua: keyword, type, name, number, string, comment, mark; null for the rest.
function classOf(word) {
  if (word.startsWith('--@')) return 'm'
  if (word.startsWith('--')) return 'c'
  if (word[0] === '"') return 's'
  if (/^\d/.test(word)) return 'n'
  if (!/^[A-Za-z_]/.test(word)) return null
  return keywords.has(word) ? 'k' : types.test(word) ? 't' : 'w'
}

// A line of Lua as elements; each knows its column. The strings of a step's call name loops and arrays, too.
function codeOf(text, isCall) {
  const out = document.createDocumentFragment()
  let column = 0
  for (const [piece] of text.matchAll(pieces)) {
    const kind = classOf(piece)
    for (const [word] of isCall && kind === 's' ? piece.matchAll(/\w+|\W+/g) : [[piece]]) {
      const isName = kind === 'w' || (word !== piece && /^[A-Za-z_]/.test(word))
      if (kind || word.trim()) {
        const e = element('span', { class: (isName ? 'w ' : '') + (kind === 'w' ? '' : kind || '') }, word)
        e.dataset.at = column
        if (isName) paint(e)
        out.append(e)
      } else out.append(word)
      column += word.length
    }
  }
  return out
}

const isName = e => e.classList.contains('w')

// Gives a name its colour, or none.
function paint(e) {
  const colour = colours.get(e.textContent)
  if (colour) e.style.background = colour
  else e.removeAttribute('style')
}

// Does so for all names.
function repaint() {
  document.querySelectorAll('.w').forEach(paint)
  $('clear').hidden = colours.size === 0
}

// Gives a name a colour of its own, or takes it away.
function toggle(name) {
  if (!colours.delete(name)) {
    const free = palette.find(c => ![...colours.values()].includes(c))
    colours.set(name, free || palette[colours.size % palette.length])
  }
  repaint()
}

// The longest common subsequence of two lists of numbers, as rows [left, right]; -1: none there.
function compare(a, b) {
  let head = 0, tail = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const n = a.length - head - tail, m = b.length - head - tail
  const best = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1))
  for (let i = n - 1; i >= 0; i--)
    for (let k = m - 1; k >= 0; k--)
      best[i][k] = a[head + i] === b[head + k] ? best[i + 1][k + 1] + 1 : Math.max(best[i + 1][k], best[i][k + 1])
  const rows = []
  for (let i = 0; i < head; i++) rows.push([i, i])
  let i = 0, k = 0
  while (i < n || k < m)
    if (i < n && k < m && a[head + i] === b[head + k]) rows.push([head + i++, head + k++])
    else if (k === m || (i < n && best[i + 1][k] >= best[i][k + 1])) rows.push([head + i++, -1])
    else rows.push([-1, head + k++])
  for (let t = tail; t > 0; t--) rows.push([a.length - t, b.length - t])
  return rows
}

const textOf = (stage, n) => data.lines[stage.lines[n]][0]

// The rows of two stages side by side: lines are equal when their texts are.
function compareStages(before, now) {
  const ids = new Map()
  const number = text => ids.get(text) ?? ids.set(text, ids.size).get(text)
  const numbers = stage => stage.lines.map((_, n) => number(textOf(stage, n)))
  return compare(numbers(before), numbers(now))
}

// Counts of lines that a stage took away and added, against the one before.
function change(n) {
  const rows = compareStages(data.stages[n - 1], data.stages[n])
  return [rows.filter(r => r[1] < 0).length, rows.filter(r => r[0] < 0).length]
}

// The number and the text of line n of a stage, or a gap.
function cell(stage, n, kind) {
  if (n < 0) return [element('span', { class: 'no' }), element('span', { class: 'cell none' })]
  const code = element('span', { class: 'cell ' + kind }, codeOf(data.lines[stage.lines[n]][0]))
  code.row = { stage, n }
  return [element('span', { class: 'no' }, String(n + 1)), code]
}

// A row of one column, with a link to its source.
function oneRow(stage, n, kind, says) {
  const [, , source, line] = data.lines[stage.lines[n]]
  const link = element('a', { tabindex: '0' })
  if (source >= 0) {
    link.textContent = data.sources[source].name.split('/').pop() + ':' + line
    link.onclick = () => show({ tab: 'source', here: [source, line] })
  }
  const cells = cell(stage, n, kind)
  if (says) cells[1].append(intervalOf(says, n))
  return element('div', { class: 'row' }, ...cells, link)
}

// The rows of a stage, or of its difference to another, in one column.
function oneColumn(now, before) {
  const says = saidOf(now)
  if (!before) return now.lines.map((_, n) => oneRow(now, n, '', says))
  const row = ([a, b]) => b < 0 ? oneRow(before, a, 'del') : oneRow(now, b, a < 0 ? 'ins' : '', says)
  return compareStages(before, now).map(row)
}

// The rows of two stages in two columns.
function twoColumns(now, before) {
  return pair(compareStages(before, now)).map(([a, b]) => {
    const same = a >= 0 && b >= 0 && textOf(before, a) === textOf(now, b)
    return element('div', { class: 'row' }, ...cell(before, a, same ? '' : 'del'), ...cell(now, b, same ? '' : 'ins'))
  })
}

// The program, scrolled to the first change.
function showProgram(main) {
  const now = data.stages[state.stage], before = data.stages[state.against], two = state.beside && before
  main.append(element('div', { class: two ? 'code two' : 'code' }, ...(two ? twoColumns : oneColumn)(now, before)))
  const first = main.querySelector('.ins, .del')
  if (first) first.scrollIntoView({ block: 'center' })
}

// Puts what is gone beside what came in its place.
function pair(rows) {
  const out = []
  for (let i = 0; i < rows.length;) {
    const gone = [], come = []
    while (i < rows.length && rows[i][1] < 0) gone.push(rows[i++][0])
    while (i < rows.length && rows[i][0] < 0) come.push(rows[i++][1])
    for (let k = 0; k < Math.max(gone.length, come.length); k++) out.push([gone[k] ?? -1, come[k] ?? -1])
    if (i < rows.length && rows[i][0] >= 0 && rows[i][1] >= 0) out.push(rows[i++])
  }
  return out
}

// ---- the text for a target beside the program ----

// What a line is about: the variable of a loop, else its names in order; null where it has none.
const cTypes = /^(float|double|bool|void|const|static|struct|u?int\d*(_t)?|ap_u?(int|fixed)|half|local|do|restrict|index)$/
function about(text) {
  const line = text.replace(/--.*|\/\/.*/, '').replace(/\b[\w:]+<[\w<>:, ]*>/g, '')
  if (/^\s*#/.test(line)) return null
  const loop = line.match(/^\s*for\s*\(?\s*(?:\w+\s+)?([A-Za-z_]\w*)\s*[=,]/)
  if (loop) return 'for ' + loop[1]
  const names = (line.match(/[A-Za-z_]\w*/g) || []).filter(w => !cTypes.test(w) && !types.test(w) && w !== 'end')
  return names.length && /=|\(/.test(line) ? names.join(' ') : null
}

// Pairs [row of the program, line of the text] that are about the same, in the order of both.
function link(stage, lines) {
  const ids = new Map()
  const keyed = texts => texts.map((text, n) => [about(text), n]).filter(x => x[0])
  const a = keyed(stage.lines.map((_, n) => textOf(stage, n))), b = keyed(lines)
  const number = x => ids.get(x[0]) ?? ids.set(x[0], ids.size).get(x[0])
  return compare(a.map(number), b.map(number)).filter(r => r[0] >= 0 && r[1] >= 0).map(([i, k]) => [a[i][1], b[k][1]])
}

// A row of either side; linked rows share a colour, and light up together.
function linkedRow(n, code, pair, box) {
  const row = element('div', { class: 'row' }, element('span', { class: 'no' }, String(n + 1)), code)
  if (pair === undefined) return row
  row.classList.add('linked')
  row.dataset.pair = pair
  code.style.borderColor = `hsl(${pair * 67 % 360} 65% 55%)`
  const light = on => box.querySelectorAll(`[data-pair="${pair}"]`).forEach(e => e.classList.toggle('lit', on))
  row.onmouseenter = () => light(true)
  row.onmouseleave = () => light(false)
  row.onclick = e => isName(e.target) || box.querySelectorAll(`[data-pair="${pair}"]`).forEach(other =>
    other !== row && other.scrollIntoView({ block: 'nearest' }))
  return row
}

// The program and the text for a target, side by side.
function showTarget(target, main) {
  const stage = data.stages[state.stage], numbers = stage.texts && stage.texts[target]
  if (!numbers) {
    main.append(element('p', { class: 'empty' }, 'The page holds this text of the last step only, or not at all: ' +
      'it would have more than 200 KB.'))
    return
  }
  const lines = numbers.map(n => data.plains[n]), box = element('div', { class: 'beside' })
  const left = element('div', { class: 'lines' }), right = element('div', { class: 'lines' })
  const here = new Map(), there = new Map()
  link(stage, lines).forEach(([a, b], n) => { here.set(a, n); there.set(b, n) })
  const says = saidOf(stage)
  stage.lines.forEach((_, n) => {
    const code = element('span', { class: 'cell' }, codeOf(textOf(stage, n)), intervalOf(says, n))
    code.row = { stage, n }
    left.append(linkedRow(n, code, here.get(n), box))
  })
  lines.forEach((text, n) => right.append(linkedRow(n, element('span', { class: 'cell' }, codeOf(text)), there.get(n),
    box)))
  box.append(element('div', {}, left), element('div', {}, right))
  main.append(box)
}

// What the estimate says of loops, by the row that begins each.
function saidOf(stage) {
  const says = new Map(), loops = stage.loops || [], used = new Set()
  stage.lines.forEach((_, n) => {
    const names = textOf(stage, n).match(/^\s*for\s+([\w, ]+?)\s*(?:=|in\b)/)
    if (!names) return
    for (const name of names[1].split(/\s*,\s*/))
      for (let i = 0; i < loops.length; i += 3) {
        if (used.has(i) || loops[i].replace(/^.*:/, '').replace(/#.*$/, '') !== name) continue
        used.add(i)
        says.set(n, [...(says.get(n) || []), (loops[i + 1] ? 'II ' + loops[i + 1] + ', ' : '') + loops[i + 2]])
        break
      }
  })
  return says
}

const intervalOf = (says, n) => says.has(n) ? element('span', { class: 'ii' }, says.get(n).join('; ')) : ''

// The drawing of a design.
function showGraph(main) {
  const box = element('div', { id: 'graph' })
  box.innerHTML = data.graphs[data.stages[state.stage].graph] ??
    '<p>This is a kernel: only a design has tasks to draw.</p>'
  main.append(box)
}

// The cited part of each source, scrolled to the line that was asked for.
function showSource(main) {
  if (!data.sources.length) main.append(element('p', { class: 'empty' }, 'No source is known.'))
  data.sources.forEach((source, s) => {
    main.append(element('h2', {}, source.name))
    source.lines.forEach((text, n) => {
      const here = state.here && state.here[0] === s && state.here[1] === source.first + n
      const row = element('div', { class: here ? 'row here' : 'row' }, element('span', { class: 'no' },
        String(source.first + n)), element('span', { class: 'cell' }, codeOf(text)))
      main.append(row)
      if (here) requestAnimationFrame(() => row.scrollIntoView({ block: 'center' }))
    })
  })
}

// The list of steps, and the choice of what to compare with.
function showStages() {
  data.stages.forEach((stage, n) => {
    const facts = element('span', { class: 'facts' })
    if (n > 0) {
      const [gone, come] = change(n)
      facts.append(element('span', { class: 'ins' }, '+' + come), element('span', { class: 'del' }, '−' + gone))
    }
    if (stage.cycles) facts.append(element('span', {}, stage.cycles.toLocaleString('en') + ' cycles'))
    if (stage.verdict) facts.append(element('span', {}, stage.verdict))
    const item = element('li', { tabindex: '0' }, element('a', { class: 'no', href: '#step-' + n }, String(n)),
      element('code', {}, codeOf(stage.call || data.name, true)), facts,
      ...stage.notes.map(text => element('span', { class: 'note' }, text)))
    item.onclick = e => isName(e.target) || choose(n)
    item.onkeydown = e => e.key === 'Enter' && choose(n)
    $('stages').append(item)
    $('against').append(element('option', { value: n }, n + '  ' + (stage.call || data.name)))
  })
  $('against').prepend(element('option', { value: -1 }, 'nothing'))
}

// Shows a step against the one before.
function choose(n) {
  if (n >= 0 && n < data.stages.length) show({ stage: n, against: n - 1 })
}

// Changes what is shown.
function show(what) {
  Object.assign(state, what)
  const main = $('main'), tabs = { program: showProgram, graph: showGraph, source: showSource,
    hls: m => showTarget('hls', m), cpu: m => showTarget('cpu', m) }
  main.replaceChildren()
  tabs[state.tab](main)
  document.querySelectorAll('#tabs button').forEach(b => b.setAttribute('aria-selected', b.dataset.tab === state.tab))
  ;[...$('stages').children].forEach((item, n) => {
    if (n === state.stage) item.setAttribute('aria-current', 'step')
    else item.removeAttribute('aria-current')
  })
  $('stages').children[state.stage].scrollIntoView({ block: 'nearest' })
  $('against').value = state.against
  $('beside').checked = state.beside
  $('against-label').hidden = $('beside-label').hidden = state.tab !== 'program' || data.stages.length < 2
  $('tip').hidden = true
  if (what.stage !== undefined) history.replaceState(null, '', '#step-' + state.stage)
}

// The step that the address names: page.html#step-3.
function follow() {
  const named = location.hash.match(/^#step-(\d+)$/)
  if (named && Number(named[1]) !== state.stage) choose(Number(named[1]))
}

// The innermost expression around a column of a line: [from, to, type], or null.
function expressionAt(line, column) {
  let found = null
  const marks = data.lines[line][1]
  for (let i = 0; i < marks.length; i += 3)
    if (marks[i] <= column && column < marks[i + 1] && (!found || marks[i + 1] - marks[i] < found[1] - found[0]))
      found = marks.slice(i, i + 3)
  return found
}

// The declaration of a name that holds at row n of a stage: [row, name, type], or null.
function declarationOf(stage, n, name) {
  let found = null
  for (let i = 0; i < stage.symbols.length; i += 3)
    if (stage.symbols[i + 1] === name && (stage.symbols[i] <= n || !found)) found = stage.symbols.slice(i, i + 3)
  return found
}

// What there is to say of a piece of code: texts with their types, and the declaration; or null.
function tipFor(e) {
  const code = e.closest('.cell')
  if (!code || !code.row || e.dataset.at === undefined) return null
  const { stage, n } = code.row, line = stage.lines[n], lines = []
  const expression = expressionAt(line, Number(e.dataset.at))
  if (expression) lines.push([textOf(stage, n).slice(expression[0], expression[1]), data.types[expression[2]]])
  const declared = isName(e) && declarationOf(stage, n, e.textContent)
  if (declared && !(lines.length && lines[0][0] === e.textContent)) lines.push([e.textContent, data.types[declared[2]]])
  return lines.length ? { lines, code, expression, declared, stage } : null
}

// Marks the expression that the pointer is on.
function mark(code, expression) {
  document.querySelectorAll('.in').forEach(e => e.classList.remove('in'))
  for (const e of expression && code ? code.querySelectorAll('[data-at]') : [])
    if (e.dataset.at >= expression[0] && e.dataset.at < expression[1]) e.classList.add('in')
}

// Shows the types of what the pointer is on.
function hover(event) {
  const tip = $('tip'), found = event.target.dataset ? tipFor(event.target) : null
  tip.hidden = !found
  mark(found && found.code, found && found.expression)
  if (!found) return
  tip.replaceChildren(...found.lines.map(([text, type]) => element('p', { style: 'margin:0' }, text + ' : ',
    element('b', {}, type))))
  if (found.declared) {
    const text = textOf(found.stage, found.declared[0]).trim()
    tip.append(element('div', {}, 'line ' + (found.declared[0] + 1) + ':  ' + text))
  }
  const box = event.target.getBoundingClientRect()
  tip.style.left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 12)) + 'px'
  const below = box.bottom + 8
  tip.style.top = (below + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 8 : below) + 'px'
}

// Fills the page and listens.
function start() {
  const n = data.stages.length - 1
  $('title').append(data.name, element('small', {}, n === 0 ? '' : n === 1 ? '1 step' : n + ' steps'))
  showStages()
  document.querySelectorAll('#tabs button').forEach(b => {
    b.onclick = () => show({ tab: b.dataset.tab })
    b.disabled = b.dataset.tab === 'graph' && !data.graphs.length
  })
  $('against').onchange = e => show({ against: Number(e.target.value) })
  $('beside').onchange = e => show({ beside: e.target.checked })
  $('clear').onclick = () => { colours.clear(); repaint() }
  document.addEventListener('click', e => isName(e.target) && toggle(e.target.textContent))
  $('main').addEventListener('mouseover', hover)
  $('main').addEventListener('mouseleave', () => { $('tip').hidden = true })
  document.addEventListener('keydown', e => {
    if (e.target.tagName === 'SELECT' || e.ctrlKey || e.metaKey) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (step) { choose(state.stage + step); e.preventDefault() }
  })
  addEventListener('hashchange', follow)
  show({})
  follow()
}

start()
